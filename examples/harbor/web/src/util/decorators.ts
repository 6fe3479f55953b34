/** Receives one line per traced call; replaceable so that tests stay quiet. */
export type TraceSink = (line: string) => void;

let sink: TraceSink = () => {};

/** Sends trace lines to `next` and returns a function that restores the previous sink. */
export function setTraceSink(next: TraceSink): () => void {
  const previous = sink;
  sink = next;
  return () => {
    sink = previous;
  };
}

/**
 * Method decorator that reports how long an async method took and whether it failed.
 *
 * @example
 * class Client {
 *   @traced("quotes") async createQuote() { … }
 * }
 */
export function traced(label: string) {
  return function decorate<This, Args extends unknown[], Return>(
    method: (this: This, ...args: Args) => Promise<Return>,
    context: ClassMethodDecoratorContext<This, (this: This, ...args: Args) => Promise<Return>>,
  ) {
    const name = `${label}.${String(context.name)}`;
    return async function wrapped(this: This, ...args: Args): Promise<Return> {
      const started = Date.now();
      let outcome = "failed";
      try {
        const value = await method.apply(this, args);
        outcome = "ok";
        return value;
      } finally {
        sink(`${name} ${outcome} in ${Date.now() - started} ms`);
      }
    };
  };
}
