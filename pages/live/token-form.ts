import { element } from './element.ts';

/** Asks for ADMIN_TOKEN, which the page keeps in its memory only. */
export class TokenForm {
  readonly root = element('form', 'token');
  readonly #reason = element('p');
  readonly #input = element('input');

  constructor(onToken: (token: string) => void) {
    const label = element('label', '', 'ADMIN_TOKEN ');
    this.#input.type = 'password';
    this.#input.autocomplete = 'current-password';
    this.#input.required = true;
    label.append(this.#input);
    this.root.append(this.#reason, label, element('button', '', 'Watch'));
    this.root.hidden = true;
    this.root.addEventListener('submit', (event) => {
      event.preventDefault();
      onToken(this.#input.value.trim());
    });
  }

  ask(reason: string): void {
    this.#reason.textContent = reason;
    this.root.hidden = false;
    this.#input.focus();
  }

  hide(): void {
    this.root.hidden = true;
  }
}
