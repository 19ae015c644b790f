import { isEnumType } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';

const WINDOW_MS = 10_000;
const MAX_VALUE_LENGTH = 60;
/** Values of an enum that a line lists. */
const MAX_NAMES = 10;

/** The message of an enum. The value is a text as JSON.stringify prints it, or else only its beginning tells what it is. */
const ENUM = /^Enum "(\w+)" cannot represent (?:non-string )?value: (.*)$/s;
const OTHER = /^(\w+) cannot represent /;

/** Logs values that their types cannot represent: one line for each field within 10 s. Of the values only those of enums, which are names. */
export class UnfitValues {
  readonly #schema: GraphQLSchema;
  readonly #log: Logger;
  readonly #window = new LogWindow(WINDOW_MS);

  constructor(schema: GraphQLSchema, log: Logger) {
    this.#schema = schema;
    this.#log = log;
  }

  /** @param message of graphql-js @param field schema coordinate; undefined: the value belongs to no field */
  report(message: string, field: string | undefined): void {
    this.#window.run(field ?? '', (suppressed) => {
      const problems = [this.#problemOf(message)];
      this.#log.warn(
        { field, problems, suppressed },
        'a value does not fit the type of its field: clients receive an error',
      );
    });
  }

  #problemOf(message: string): string {
    const [, name, value = ''] = ENUM.exec(message) ?? [];
    if (name === undefined) {
      const [, type = ''] = OTHER.exec(message) ?? [];
      return `the value does not fit the type ${type}; change the type of the field, or give it a resolver`;
    }
    const type = this.#schema.getType(name);
    const names = isEnumType(type) ? type.getValues().map((one) => one.name) : [];
    const shown = /^("|[\w-]+$)/.test(value) ? shortened(value) : 'an object or a list';
    const near = didYouMean(shown.replaceAll('"', ''), names);
    return `${shown} is not in the enum ${name} (${listed(names)}); add it there, correct the record, or give the field a resolver${near}`;
  }
}

function listed(names: readonly string[]): string {
  return [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])].join(', ');
}

function shortened(value: string): string {
  return value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH)}…` : value;
}
