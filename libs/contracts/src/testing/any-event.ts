/** Tests append events of types of their own. Only the type check of the whole sources sees this; no build does. */
declare module '../catalogue/catalogue' {
  interface TestEvents {
    readonly any: string;
  }
}

export {};
