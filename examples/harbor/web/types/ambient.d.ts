/**
 * Minimal ambient declarations, so that the portal type-checks without
 * installing @types packages. They cover exactly what the sources use.
 */

declare module "react" {
  export type ReactNode =
    | JSX.Element
    | string
    | number
    | boolean
    | null
    | undefined
    | ReactNode[];
  export type Dispatch<A> = (action: A) => void;
  export type SetStateAction<S> = S | ((previous: S) => S);

  export function useState<S>(initial: S | (() => S)): [S, Dispatch<SetStateAction<S>>];
  export function useEffect(effect: () => void | (() => void), deps?: readonly unknown[]): void;
  export function useMemo<T>(factory: () => T, deps: readonly unknown[]): T;
  export function useCallback<F extends (...args: never[]) => unknown>(
    callback: F,
    deps: readonly unknown[],
  ): F;
  export function useRef<T>(initial: T): { current: T };
  export function useSyncExternalStore<T>(
    subscribe: (onChange: () => void) => () => void,
    getSnapshot: () => T,
  ): T;

  export interface FormEvent {
    preventDefault(): void;
  }
  export interface ChangeEvent {
    readonly target: { readonly value: string };
  }
}

declare module "react/jsx-runtime" {
  export const Fragment: unique symbol;
  export function jsx(type: unknown, props: unknown, key?: string): JSX.Element;
  export function jsxs(type: unknown, props: unknown, key?: string): JSX.Element;
}

declare namespace JSX {
  interface Element {
    readonly type: unknown;
  }
  interface ElementChildrenAttribute {
    children: unknown;
  }
  interface IntrinsicAttributes {
    key?: string | number;
  }
  interface HtmlProps {
    key?: string | number;
    className?: string;
    children?: unknown;
    role?: string;
    title?: string;
    id?: string;
    [attribute: `aria-${string}`]: string | boolean | undefined;
  }
  interface ControlProps extends HtmlProps {
    name?: string;
    type?: string;
    value?: string | number;
    min?: number;
    required?: boolean;
    disabled?: boolean;
    onChange?: (event: import("react").ChangeEvent) => void;
    onClick?: () => void;
  }
  interface FormProps extends HtmlProps {
    onSubmit?: (event: import("react").FormEvent) => void;
  }
  interface IntrinsicElements {
    section: HtmlProps;
    header: HtmlProps;
    h2: HtmlProps;
    p: HtmlProps;
    ul: HtmlProps;
    ol: HtmlProps;
    li: HtmlProps;
    span: HtmlProps;
    strong: HtmlProps;
    time: HtmlProps & { dateTime?: string };
    table: HtmlProps;
    tbody: HtmlProps;
    tr: HtmlProps;
    td: HtmlProps;
    label: HtmlProps;
    form: FormProps;
    input: ControlProps;
    select: ControlProps;
    option: ControlProps;
    button: ControlProps;
  }
}

declare module "node:http" {
  export interface IncomingMessage extends AsyncIterable<Uint8Array> {
    readonly method?: string;
    readonly url?: string;
    readonly headers: Record<string, string | undefined>;
  }
  export interface ServerResponse {
    statusCode: number;
    setHeader(name: string, value: string): void;
    end(body?: string): void;
  }
  export interface Server {
    listen(port: number, onListening?: () => void): Server;
    close(onClosed?: () => void): void;
  }
  export function createServer(
    handler: (request: IncomingMessage, response: ServerResponse) => void,
  ): Server;
}

declare module "node:crypto" {
  export interface Hmac {
    update(data: string): Hmac;
    digest(encoding: "base64url" | "hex"): string;
  }
  export function createHmac(algorithm: "sha256", key: string): Hmac;
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
  export function randomUUID(): string;
}

declare module "node:test" {
  export function describe(name: string, body: () => void): void;
  export function it(name: string, body: () => void | Promise<void>): void;
  export function beforeEach(body: () => void): void;
}

declare module "node:assert/strict" {
  interface Assert {
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): asserts value;
    throws(body: () => unknown, check?: (error: unknown) => boolean): void;
    rejects(body: () => Promise<unknown>, check?: (error: unknown) => boolean): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}

declare const process: {
  readonly env: Record<string, string | undefined>;
  on(event: "SIGINT" | "SIGTERM", listener: () => void): void;
  exit(code: number): never;
};

declare const Buffer: {
  from(text: string, encoding?: "utf8" | "base64url"): Uint8Array & {
    toString(encoding?: "utf8" | "base64url"): string;
  };
};
