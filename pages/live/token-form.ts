import { element } from '../element.ts';

/** Says why the figures are refused. Asks for ADMIN_TOKEN where it helps, and keeps it in the page's memory only. */
export class TokenForm {
  readonly root = element('form', 'token');
  readonly #reason = element('p');
  readonly #input = element('input');
  readonly #controls: readonly HTMLElement[];

  constructor(onToken: (token: string) => void) {
    const label = element('label', '', 'ADMIN_TOKEN ');
    this.#input.type = 'password';
    this.#input.autocomplete = 'current-password';
    this.#input.required = true;
    label.append(this.#input);
    this.#controls = [label, element('button', '', 'Watch')];
    this.root.append(this.#reason, ...this.#controls);
    this.root.hidden = true;
    this.root.addEventListener('submit', (event) => {
      event.preventDefault();
      onToken(this.#input.value.trim());
    });
  }

  ask(reason: string): void {
    this.#show(reason, true);
    this.#input.focus();
  }

  /** The pod serves the figures to nobody here. */
  forbid(reason: string): void {
    this.#show(
      `The figures are served to nobody at this address (403): ${reason}. Fix that, and load the page again.`,
      false,
    );
  }

  hide(): void {
    this.root.hidden = true;
  }

  #show(reason: string, isAsking: boolean): void {
    this.#reason.textContent = reason;
    for (const control of this.#controls) control.hidden = !isAsking;
    this.root.hidden = false;
  }
}
