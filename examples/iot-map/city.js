/** A city that does not exist, in degrees. The fleet drives on its streets, and the page draws them. */
export const BOUNDS = { west: 7.96, east: 8.04, south: 49.98, north: 50.02 };

/** Points of a plan that is 100 wide and 78 high, from its top left corner. @param {number[][]} points */
const onPlan = (points) =>
  points.map(([x = 0, y = 0]) => [along(BOUNDS.west, BOUNDS.east, x / 100), along(BOUNDS.north, BOUNDS.south, y / 78)]);

/** Rounded to about a metre. @param {number} from @param {number} to @param {number} part */
const along = (from, to, part) => Number((from + (to - from) * part).toFixed(5));

/** @param {number[][]} points */
const thereAndBack = (points) => [...points, ...points.slice(1, -1).reverse()];

const RING = [
  [30, 15],
  [70, 12],
  [85, 30],
  [84, 52],
  [68, 66],
  [34, 67],
  [17, 52],
  [16, 30],
];
const NORTH = [
  [2, 26],
  [30, 24],
  [50, 24],
  [69, 24],
  [98, 20],
];
const MIDDLE = [
  [2, 40],
  [50, 39],
  [98, 42],
];
const SOUTH = [
  [2, 56],
  [31, 54],
  [50, 54],
  [69, 54],
  [98, 58],
];
const WEST = [
  [28, 2],
  [30, 24],
  [31, 54],
  [28, 76],
];
const CENTRE = [
  [50, 2],
  [50, 24],
  [50, 39],
  [50, 54],
  [50, 76],
];
const EAST = [
  [72, 2],
  [69, 24],
  [69, 54],
  [74, 76],
];

export const AVENUES = [[...RING, RING[0] ?? []], NORTH, MIDDLE, SOUTH, WEST, CENTRE, EAST].map(onPlan);

const COLUMNS = [22, 26, 36, 42, 46, 55, 60, 65, 76, 80];
const ROWS = [18, 30, 34, 45, 49, 60];
export const STREETS = [
  ...COLUMNS.map((x) => [
    [x, 18],
    [x, 60],
  ]),
  ...ROWS.map((y) => [
    [22, y],
    [80, y],
  ]),
].map(onPlan);

export const RIVER = onPlan([
  [-2, 71],
  [15, 66],
  [30, 60],
  [42, 51],
  [58, 46],
  [74, 37],
  [88, 30],
  [102, 12],
]);

export const PARKS = [
  [
    [56, 55],
    [67, 56],
    [66, 65],
    [57, 64],
  ],
  [
    [5, 8],
    [20, 6],
    [22, 16],
    [8, 19],
  ],
  [
    [86, 60],
    [97, 62],
    [96, 74],
    [84, 72],
  ],
  [
    [37, 35],
    [45, 35],
    [45, 44],
    [37, 44],
  ],
].map(onPlan);

/** Closed ways of vehicles: after the last point comes the first. */
export const ROUTES = [
  { kind: 'TRAM', points: RING },
  { kind: 'TRAM', points: thereAndBack(CENTRE) },
  {
    kind: 'BUS',
    points: [
      [30, 24],
      [69, 24],
      [69, 54],
      [31, 54],
    ],
  },
  { kind: 'BUS', points: thereAndBack(MIDDLE) },
  { kind: 'BUS', points: thereAndBack(WEST) },
  { kind: 'BUS', points: thereAndBack(EAST) },
  {
    kind: 'BIKE',
    points: [
      [36, 30],
      [46, 30],
      [46, 49],
      [36, 49],
    ],
  },
  {
    kind: 'BIKE',
    points: [
      [55, 30],
      [65, 30],
      [65, 45],
      [55, 45],
    ],
  },
  {
    kind: 'BIKE',
    points: [
      [42, 18],
      [60, 18],
      [60, 34],
      [42, 34],
    ],
  },
  {
    kind: 'BIKE',
    points: [
      [22, 30],
      [26, 30],
      [26, 49],
      [22, 49],
    ],
  },
  {
    kind: 'VAN',
    points: [
      [22, 18],
      [80, 18],
      [80, 60],
      [22, 60],
    ],
  },
  { kind: 'VAN', points: thereAndBack(NORTH) },
  { kind: 'VAN', points: thereAndBack(SOUTH) },
].map(({ kind, points }) => ({ kind, points: onPlan(points) }));
