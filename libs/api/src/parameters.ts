import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { describeRoute, type Description } from './describe';
import { type Parts, validateRequest } from './request';
import type { ObjectSchema, Schema } from '@fairlead/schema';

/** The schemas of a handler's parameters. */
type Declared = Parts<unknown, unknown, unknown>;
type Part = keyof Declared;
type Checked = Readonly<Partial<Record<Part, unknown>>>;

/** A decorator for a parameter of the type `T`; on a parameter of another type it does not compile. */
type DecoratorOf<T> = <K extends string, I extends number, C extends { [N in K]: (...parameters: never[]) => unknown }>(
  target: C,
  name: K,
  index: [T] extends [Parameters<C[K]>[I]] ? I : never,
) => void;

const declared = new WeakMap<object, Declared>();
const outcomes = new WeakMap<FastifyRequest, { readonly checked: Checked } | { readonly error: unknown }>();

/** Injects the path parameters, checked by the schema. @throws Unprocessable */
export function Path<T>(schema: ObjectSchema<T>): DecoratorOf<T> {
  return takes('path', schema);
}

/** Injects the query parameters, checked by the schema. @throws Unprocessable */
export function Query<T>(schema: ObjectSchema<T>): DecoratorOf<T> {
  return takes('query', schema);
}

/** Injects the JSON body, checked by the schema. @throws Unprocessable */
export function Body<T>(schema: Schema<T>): DecoratorOf<T> {
  return takes('body', schema);
}

/**
 * Returns the checked parts of the current request. All parts that the parameters of the handler declare are checked
 * together, once per request. @throws Unprocessable with the problems of all parts, in the order path, query, body.
 */
export function checkedParts(execution: ExecutionContext): Checked {
  const request = execution.switchToHttp().getRequest<FastifyRequest>();
  const outcome = outcomes.get(request) ?? attempt(request, declared.get(execution.getHandler()) ?? {});
  outcomes.set(request, outcome);
  if ('error' in outcome) throw outcome.error;
  return outcome.checked;
}

function attempt(request: FastifyRequest, parts: Declared) {
  try {
    return { checked: validateRequest(request, parts) };
  } catch (error) {
    return { error };
  }
}

const CheckedPart = createParamDecorator((part: Part, execution: ExecutionContext) => checkedParts(execution)[part]);

function takes<T>(part: Part, schema: Schema<T>): DecoratorOf<T> {
  return (target: object, name: string, index: number) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name)!;
    const handler = descriptor.value as object;
    const more = { [part]: schema } as Declared;
    declared.set(handler, { ...declared.get(handler), ...more });
    describeRoute(more as Partial<Description>)(target, name, descriptor);
    CheckedPart(part)(target, name, index);
  };
}
