import { configOf, configureRoute } from './access';
import type { AREAS } from './areas';
import type { ObjectSchema, Schema } from '@fairlead/schema';

/** Name of one of the areas into which the reference is divided. */
type AreaName = keyof typeof AREAS;

/** A body or an answer that may be other than JSON: its schema by media type; `{}` for bytes. */
export interface Content {
  readonly content: Readonly<Record<string, Schema<unknown> | Record<string, never>>>;
}

/** Request headers that only some routes use. */
export type RequestHeader = 'Idempotency-Key' | 'If-Match' | 'If-None-Match' | 'x-reason' | 'Content-Encoding';
/** Response headers that only some routes send. */
type AnswerHeader = 'ETag' | 'Link' | 'X-Pagination-Total' | 'Warning' | 'Age' | 'x-dry-run' | 'Content-Disposition';

/** The description of one route for the OpenAPI document. */
export interface Description {
  /** Purpose of the route, in one line without a full stop. */
  readonly summary: string;
  /** Further explanation, in Markdown. */
  readonly description?: string;
  /** The schemas that the handler checks the request with. */
  readonly path?: ObjectSchema<unknown>;
  readonly query?: ObjectSchema<unknown>;
  readonly body?: Schema<unknown> | Content;
  /**
   * Answers by status: for a success its schema, or null without a body; for an error a sentence that says when it
   * comes, or the media types that it has besides the usual ones.
   */
  readonly answers: Readonly<Record<number, Schema<unknown> | Content | string | null>>;
  readonly takes?: readonly RequestHeader[];
  readonly gives?: readonly AnswerHeader[];
}

/** A description with the handler that it was written on. */
export interface Described extends Description {
  readonly controller: object;
  readonly handler: string;
}

const areas = new WeakMap<object, { readonly name: AreaName; readonly operations?: string }>();

/** Adds to the description of a route. Request headers are added to those that are known already. */
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
 * Describes a route for the OpenAPI document, together with the decorators of its parameters, `@Answers` and
 * `@Idempotent`. Errors that follow from the kind of the route are added automatically.
 */
export function Describe(description: Omit<Description, 'answers'> & Partial<Description>): MethodDecorator {
  return describeRoute(description);
}

/**
 * Declares the area of the API for the routes of a controller. The ids of their operations begin with `operations`, or
 * with the name of the controller without it.
 */
export function Area(name: AreaName, operations?: string): ClassDecorator {
  return (controller) => {
    areas.set(controller, { name, operations });
  };
}

/** Returns the area of a controller; undefined when it declares none. */
export function areaOf(controller: object): AreaName | undefined {
  return areas.get(controller)?.name;
}

/** Returns the beginning that a controller declares for the ids of its operations; undefined when it declares none. */
export function operationsOf(controller: object): string | undefined {
  return areas.get(controller)?.operations;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    description?: Partial<Described>;
  }
}
