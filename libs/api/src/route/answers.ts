import type { Readable } from 'node:stream';
import type { Infer, Schema } from '@fairlead/schema';
import { type Content, describeRoute, type Description } from './describe';

type Success = 200 | 201 | 202 | 204 | 207 | 302 | 304;
type BodyOf<A> = A extends string
  ? never
  : A extends null
    ? undefined | void
    : A extends Content
      ? Infer<A['content'][keyof A['content']]> | Uint8Array | Readable
      : Infer<A>;
type Answered<A> = {
  [Status in keyof A]: Status extends Success
    ? BodyOf<A[Status]>
    : A[Status] extends Content
      ? BodyOf<A[Status]>
      : never;
}[keyof A];

type Handler<T> = (...parameters: never[]) => T | Promise<T>;
type KeyOf<T> = T extends unknown ? keyof T : never;
type Member<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;

/** Names of members of an answer, at any depth, that its schema lacks. */
type Unnamed<T, S> = unknown extends S
  ? never
  : object extends S
    ? never
    : T extends string | number | boolean | null | undefined | void | Uint8Array | Readable
      ? never
      : T extends readonly (infer Item)[]
        ? Unnamed<Item, Extract<S, readonly unknown[]>[number]>
        : Exclude<keyof T, KeyOf<S>> | { [K in keyof T & KeyOf<S>]: Unnamed<T[K], Member<S, K>> }[keyof T & KeyOf<S>];
type UnnamedBy<F, A> = F extends Handler<infer T> ? Unnamed<T, Answered<A>> : never;

/** Returns the schema for a handler that returns the answer as JSON text. */
export function asText<T>(schema: Schema<T>): Schema<T | string | Uint8Array | Readable> {
  return schema;
}

/**
 * Declares the answers of a route by status: for a success its schema, or null without a body; for an error a sentence
 * that says when it comes. A handler that returns anything but one of the successes does not compile.
 */
export function Answers<const A extends Description['answers']>(answers: A) {
  return <F extends Handler<Answered<A>>>(
    target: object,
    name: [UnnamedBy<F, A>] extends [never] ? string : readonly ['The schema does not name', UnnamedBy<F, A>],
    descriptor: TypedPropertyDescriptor<F>,
  ): void => {
    describeRoute({ answers })(target, name as string, descriptor);
  };
}
