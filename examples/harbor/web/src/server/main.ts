import { bearerToken, HarborClient, TokenService, ValidationError, type AccessToken } from "../index";
import type { ParcelDraft, Scope } from "../types";
import { setTraceSink } from "../util/decorators";
import { App, type Handler } from "./app";

const port = Number(process.env.HARBOR_WEB_PORT ?? 4310);
const gatewayUrl = process.env.HARBOR_GATEWAY_URL ?? "http://localhost:8080";

const tokens = new TokenService({
  secret: requiredEnv("HARBOR_TOKEN_SECRET"),
  ttlSeconds: Number(process.env.HARBOR_TOKEN_TTL ?? 900),
});

/** Reads a setting without which the server must not start. */
function requiredEnv(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set`);
  }
  return value;
}

/** Middleware that rejects requests whose access token lacks one of the scopes. */
function requireScopes(...scopes: Scope[]): Handler {
  return async (request, _response, next) => {
    const raw = bearerToken(request.header("authorization"));
    if (raw === undefined) {
      throw new ValidationError("malformed", "no bearer token was sent");
    }
    request.locals.token = tokens.validateAccessToken(raw, ...scopes);
    request.locals.client = clientFor(raw);
    await next();
  };
}

/** A gateway client that acts with the caller's own token. */
function clientFor(rawToken: string): HarborClient {
  return new HarborClient({ baseUrl: gatewayUrl, token: () => rawToken });
}

const app = new App();

setTraceSink((line) => console.info(`[trace] ${line}`));

app.use(async (request, _response, next) => {
  const started = Date.now();
  await next();
  console.info(`${request.method} ${request.path} took ${Date.now() - started} ms`);
});

app.get("/health", (_request, response) => {
  response.json({ status: "ok", rejectionRate: tokens.rejectionRate });
});

app.post("/session/refresh", requireScopes(), (request, response) => {
  const raw = bearerToken(request.header("authorization")) ?? "";
  response.status(201).json({ token: tokens.refresh(raw), ttlSeconds: tokens.ttlSeconds });
});

app.post("/session/logout", requireScopes(), (request, response) => {
  tokens.revoke(request.locals.token as AccessToken);
  response.json({ status: "signed_out" });
});

app.post("/quotes", requireScopes("quotes:create"), async (request, response) => {
  const draft = await request.json<ParcelDraft>();
  const client = request.locals.client as HarborClient;
  response.status(201).json(await client.createQuote(draft));
});

app.get("/parcels/:id", requireScopes("parcels:read"), async (request, response) => {
  const client = request.locals.client as HarborClient;
  response.json(await client.getParcels(request.params.id ?? ""));
});

app.onError((error, request, response) => {
  if (error instanceof ValidationError) {
    response.status(error.code === "missing_scope" ? 403 : 401).json({ error: error.code });
    return;
  }
  console.error(`${request.method} ${request.path} failed`, error);
  response.status(502).json({ error: "upstream" });
});

const server = app.listen(port, () => console.info(`portal listens on ${port}`));

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => server.close(() => process.exit(0)));
}
