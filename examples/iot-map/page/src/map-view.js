import { AVENUES, BOUNDS, PARKS, RIVER, STREETS } from '../../city.js';

const { west, east, south, north } = BOUNDS;
/** A degree of longitude is shorter than one of latitude. */
const ASPECT = ((east - west) * Math.cos((((south + north) / 2) * Math.PI) / 180)) / (north - south);
const PICK_RADIUS = 18;
const COLOURS = ['ground', 'street', 'avenue', 'river', 'park', 'box', 'text', 'tram', 'bus', 'bike', 'van'];

// So that their values are colours of the present scheme, and not the text of the style sheet.
for (const name of COLOURS)
  CSS.registerProperty({ name: `--${name}`, syntax: '<color>', inherits: true, initialValue: 'gray' });

/** Draws the city once for each size and colour scheme, and what moves in each frame. */
export class MapView {
  #canvas;
  #pen;
  #city = new OffscreenCanvas(1, 1);
  #colours = {};
  /** Where the vehicles of the last frame were drawn. */
  #drawn = [];

  constructor(canvas) {
    this.#canvas = canvas;
    this.#pen = canvas.getContext('2d');
    canvas.style.setProperty('--aspect', ASPECT);
    new ResizeObserver(() => this.#prepare()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#prepare());
  }

  draw(vehicles, followed, box) {
    const pen = this.#pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.#city, 0, 0);
    this.#scale(pen);
    if (box) this.#drawBox(box);
    for (const trail of followed.trails) this.#line(pen, trail, this.#colours.text, 1.5);
    this.#drawn = [];
    for (const vehicle of vehicles) this.#drawVehicle(vehicle, followed.has(vehicle.id));
    pen.globalAlpha = 1;
  }

  /** The id of the vehicle nearest to a point of the canvas, if it is near. */
  vehicleAt(x, y) {
    let [nearest, least] = [undefined, PICK_RADIUS];
    for (const { id, x: left, y: top } of this.#drawn) {
      const distance = Math.hypot(left - x, top - y);
      if (distance < least) [nearest, least] = [id, distance];
    }
    return nearest;
  }

  /** The part of the city between two points of the canvas. */
  boxOf(from, to) {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const lngs = [from.x, to.x].map((x) => west + (x / width) * (east - west)).sort((a, b) => a - b);
    const lats = [from.y, to.y].map((y) => north - (y / height) * (north - south)).sort((a, b) => a - b);
    return { west: lngs[0], east: lngs[1], south: lats[0], north: lats[1] };
  }

  #x(lng) {
    return ((lng - west) / (east - west)) * this.#canvas.clientWidth;
  }

  #y(lat) {
    return ((north - lat) / (north - south)) * this.#canvas.clientHeight;
  }

  #scale(pen) {
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    pen.lineJoin = pen.lineCap = 'round';
  }

  #prepare() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    for (const canvas of [this.#canvas, this.#city]) {
      canvas.width = Math.max(1, width * devicePixelRatio);
      canvas.height = Math.max(1, height * devicePixelRatio);
    }
    const style = getComputedStyle(this.#canvas);
    for (const name of COLOURS) this.#colours[name] = style.getPropertyValue(`--${name}`);
    const pen = this.#city.getContext('2d');
    this.#scale(pen);
    pen.fillStyle = this.#colours.ground;
    pen.fillRect(0, 0, width, height);
    const unit = width / 100;
    for (const park of PARKS) {
      pen.fillStyle = this.#colours.park;
      this.#path(pen, park);
      pen.fill();
    }
    this.#line(pen, RIVER, this.#colours.river, 2.6 * unit);
    for (const street of STREETS) this.#line(pen, street, this.#colours.street, 0.35 * unit);
    for (const avenue of AVENUES) this.#line(pen, avenue, this.#colours.avenue, 0.9 * unit);
  }

  #path(pen, points) {
    pen.beginPath();
    for (const [lng, lat] of points) pen.lineTo(this.#x(lng), this.#y(lat));
  }

  #line(pen, points, colour, width) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    this.#path(pen, points);
    pen.stroke();
  }

  #drawBox(box) {
    const [left, top] = [this.#x(box.west), this.#y(box.north)];
    const [right, bottom] = [this.#x(box.east), this.#y(box.south)];
    this.#pen.strokeStyle = this.#colours.box;
    this.#pen.lineWidth = 2;
    this.#pen.setLineDash([6, 4]);
    this.#pen.strokeRect(left, top, right - left, bottom - top);
    this.#pen.setLineDash([]);
  }

  #drawVehicle({ id, kind, lat, lng, heading, strength }, isFollowed) {
    const pen = this.#pen;
    const [x, y] = [this.#x(lng), this.#y(lat)];
    this.#drawn.push({ id, x, y });
    pen.globalAlpha = strength;
    pen.fillStyle = this.#colours[kind.toLowerCase()];
    pen.strokeStyle = isFollowed ? this.#colours.text : this.#colours.ground;
    pen.lineWidth = isFollowed ? 2.5 : 1;
    // A drop that points where the vehicle goes.
    const angle = ((heading ?? 0) * Math.PI) / 180;
    const size = isFollowed ? 6.5 : 4.5;
    pen.beginPath();
    pen.arc(x, y, size, angle + 0.4, angle + Math.PI - 0.4);
    pen.lineTo(x + Math.sin(angle) * size * 2, y - Math.cos(angle) * size * 2);
    pen.closePath();
    pen.stroke();
    pen.fill();
  }
}
