import { configureRoute } from './access';
import type { AREAS } from './reference/areas';
import type { JsonSchema, ObjectSchema, Schema } from '@fairlead/schema';

/** A name in the list of areas that the reference is divided into. */
export type AreaName = keyof typeof AREAS;

/** A body or an answer that is not JSON, or not always: its schema by media type; `{}` for bytes. */
export interface Content {
  readonly content: Readonly<Record<string, Schema<unknown> | JsonSchema>>;
}

/** Request headers that have a meaning on some routes only. */
export type RequestHeader = 'Idempotency-Key' | 'If-Match' | 'If-None-Match' | 'x-reason' | 'Content-Encoding';
/** Answer headers that only some routes send. */
export type AnswerHeader = 'ETag' | 'Link' | 'Warning' | 'Age' | 'x-dry-run' | 'Content-Disposition';

/** What one route takes and answers, for the OpenAPI document. */
export interface Description {
  /** What it does, in one plain line without a full stop. */
  readonly summary: string;
  /** What else is to be known, in Markdown. */
  readonly description?: string;
  /** The very schemas that the handler checks the request with. */
  readonly path?: ObjectSchema<unknown>;
  readonly query?: ObjectSchema<unknown>;
  readonly body?: Schema<unknown> | Content;
  /**
   * By status: the schema of a success, null when it has no body; of an error one sentence about when it comes, or the
   * media types that it has besides the usual ones.
   */
  readonly answers: Readonly<Record<number, JsonSchema | Content | string | null>>;
  readonly takes?: readonly RequestHeader[];
  readonly gives?: readonly AnswerHeader[];
}

/** A description with the handler that it was written on. */
export interface Described extends Description {
  readonly controller: object;
  readonly handler: string;
}

const areas = new WeakMap<object, AreaName>();

/** Describes a route for the OpenAPI document. Errors that come from the nature of a route need not be told. */
export function Describe(description: Description): MethodDecorator {
  return (target, name, descriptor) => {
    const described: Described = { ...description, controller: target.constructor, handler: String(name) };
    return configureRoute({ description: described })(target, name, descriptor);
  };
}

/** Says which area of the API the routes of a controller belong to. */
export function Area(name: AreaName): ClassDecorator {
  return (controller) => {
    areas.set(controller, name);
  };
}

/** The area of a controller, undefined when it declares none. */
export function areaOf(controller: object): AreaName | undefined {
  return areas.get(controller);
}
