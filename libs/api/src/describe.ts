import { configOf, configureRoute } from './access';
import type { AREAS } from './reference/areas';
import type { JsonSchema, ObjectSchema, Schema } from '@fairlead/schema';

/** A name in the list of areas that the reference is divided into. */
type AreaName = keyof typeof AREAS;

/** A body or an answer that is not JSON, or not always: its schema by media type; `{}` for bytes. */
export interface Content {
  readonly content: Readonly<Record<string, Schema<unknown> | JsonSchema>>;
}

/** Request headers that have a meaning on some routes only. */
export type RequestHeader = 'Idempotency-Key' | 'If-Match' | 'If-None-Match' | 'x-reason' | 'Content-Encoding';
/** Answer headers that only some routes send. */
type AnswerHeader = 'ETag' | 'Link' | 'Warning' | 'Age' | 'x-dry-run' | 'Content-Disposition';

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

/** Adds to the description of a route; the request headers that it takes are added to those known so far. */
export function describeRoute({ takes = [], ...more }: Partial<Description>): MethodDecorator {
  return (target, name, descriptor) => {
    const { description: known } = configOf(descriptor.value as object);
    const description = {
      ...known,
      ...more,
      ...((known?.takes ?? takes).length > 0 && { takes: [...(known?.takes ?? []), ...takes] }),
      controller: target.constructor,
      handler: String(name),
    };
    return configureRoute({ description })(target, name, descriptor);
  };
}

/**
 * Describes a route for the OpenAPI document, with what the decorators of its parameters, `@Answers` and `@Idempotent`
 * say. Errors that come from the nature of a route need not be told.
 */
export function Describe(description: Omit<Description, 'answers'> & Partial<Description>): MethodDecorator {
  return describeRoute(description);
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
