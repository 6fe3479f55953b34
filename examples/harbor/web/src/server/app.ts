import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** A request as handlers see it. Middleware may attach values to `locals`. */
export interface AppRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly params: Record<string, string>;
  readonly locals: Record<string, unknown>;
  header(name: string): string | undefined;
  json<T>(): Promise<T>;
}

/** A response with chainable helpers. */
export class AppResponse {
  #sent = false;

  constructor(private readonly raw: ServerResponse) {}

  get sent(): boolean {
    return this.#sent;
  }

  status(code: number): this {
    this.raw.statusCode = code;
    return this;
  }

  json(body: unknown): void {
    this.raw.setHeader("content-type", "application/json");
    this.raw.end(JSON.stringify(body));
    this.#sent = true;
  }
}

export type Next = () => Promise<void>;
export type Handler = (request: AppRequest, response: AppResponse, next: Next) => Promise<void> | void;
export type ErrorHandler = (error: unknown, request: AppRequest, response: AppResponse) => void;

interface Layer {
  readonly method: string | undefined;
  readonly pattern: RegExp | undefined;
  readonly names: readonly string[];
  readonly handlers: readonly Handler[];
}

/** A very small Express-like application: ordered layers and `:name` parameters. */
export class App {
  private readonly layers: Layer[] = [];
  private errorHandler: ErrorHandler = (_error, _request, response) =>
    response.status(500).json({ error: "internal" });

  /** Adds middleware that sees every request. */
  use(...handlers: Handler[]): this {
    this.layers.push({ method: undefined, pattern: undefined, names: [], handlers });
    return this;
  }

  get(path: string, ...handlers: Handler[]): this {
    return this.route("GET", path, handlers);
  }

  post(path: string, ...handlers: Handler[]): this {
    return this.route("POST", path, handlers);
  }

  onError(handler: ErrorHandler): this {
    this.errorHandler = handler;
    return this;
  }

  /** Runs the layers that match, each deciding with `next()` whether to go on. */
  async handle(request: AppRequest, response: AppResponse): Promise<void> {
    const queue = this.layers.flatMap((layer) => {
      const params = matchLayer(layer, request);
      return params ? layer.handlers.map((handler) => ({ handler, params })) : [];
    });

    const run = async (index: number): Promise<void> => {
      const step = queue[index];
      if (!step) {
        response.status(404).json({ error: "not_found" });
        return;
      }
      Object.assign(request.params, step.params);
      await step.handler(request, response, () => run(index + 1));
    };

    try {
      await run(0);
    } catch (error) {
      this.errorHandler(error, request, response);
    }
  }

  listen(port: number, onListening?: () => void): Server {
    const server = createServer((raw, response) => {
      void this.handle(toRequest(raw), new AppResponse(response));
    });
    return server.listen(port, onListening);
  }

  private route(method: string, path: string, handlers: Handler[]): this {
    const names: string[] = [];
    const source = path.replace(/:(\w+)/g, (_match, name: string) => {
      names.push(name);
      return "([^/]+)";
    });
    this.layers.push({ method, pattern: new RegExp(`^${source}$`), names, handlers });
    return this;
  }
}

/** Returns the path parameters when the layer applies to the request. */
function matchLayer(layer: Layer, request: AppRequest): Record<string, string> | undefined {
  if (layer.method !== undefined && layer.method !== request.method) {
    return undefined;
  }
  if (layer.pattern === undefined) {
    return {};
  }
  const match = layer.pattern.exec(request.path);
  if (!match) {
    return undefined;
  }
  return Object.fromEntries(
    layer.names.map((name, i) => [name, decodeURIComponent(match[i + 1] ?? "")]),
  );
}

function toRequest(raw: IncomingMessage): AppRequest {
  const url = new URL(raw.url ?? "/", "http://portal.invalid");
  return {
    method: raw.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    params: {},
    locals: {},
    header: (name) => raw.headers[name.toLowerCase()],
    async json<T>() {
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of raw) {
        text += decoder.decode(chunk, { stream: true });
      }
      return JSON.parse(text + decoder.decode()) as T;
    },
  };
}
