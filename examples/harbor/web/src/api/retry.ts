/** Tuning of `withRetry`. */
export interface RetryOptions {
  /** Tries in all, the first one included. */
  readonly attempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs?: number;
  /** Decides whether an error is worth another try; everything is, by default. */
  readonly retryable?: (error: unknown) => boolean;
  /** Called before each wait, for logs and tests. */
  readonly onRetry?: (error: unknown, attempt: number, delayMs: number) => void;
  readonly sleep?: (ms: number) => Promise<void>;
}

export const DEFAULT_RETRY: RetryOptions = { attempts: 4, baseDelayMs: 150, maxDelayMs: 5_000 };

/** Thrown when every try failed; `cause` is the last error. */
export class RetriesExhausted extends Error {
  constructor(
    readonly attempts: number,
    cause: unknown,
  ) {
    super(`gave up after ${attempts} attempts`, { cause });
    this.name = "RetriesExhausted";
  }
}

/** Yields the wait before each retry: doubling, capped, with up to 20% jitter. */
export function* backoffDelays(
  options: RetryOptions,
  random: () => number = Math.random,
): Generator<number, void, undefined> {
  const cap = options.maxDelayMs ?? Number.POSITIVE_INFINITY;
  for (let retry = 0; retry < options.attempts - 1; retry += 1) {
    const delay = Math.min(cap, options.baseDelayMs * 2 ** retry);
    yield Math.round(delay * (1 + 0.2 * random()));
  }
}

/**
 * Runs `task` until it succeeds, the error is not retryable, or the tries are used up.
 * The task receives the number of the attempt, from 1.
 */
export async function withRetry<T>(
  task: (attempt: number) => Promise<T>,
  options: RetryOptions = DEFAULT_RETRY,
): Promise<T> {
  const { retryable = () => true, sleep = sleepFor } = options;
  const delays = backoffDelays(options);

  for (let attempt = 1; ; attempt += 1) {
    try {
      return await task(attempt);
    } catch (error) {
      if (!retryable(error)) {
        throw error;
      }
      const next = delays.next();
      if (next.done) {
        throw new RetriesExhausted(attempt, error);
      }
      options.onRetry?.(error, attempt, next.value);
      await sleep(next.value);
    }
  }
}

function sleepFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
