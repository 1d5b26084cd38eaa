/*
 * The OAuth2 server of these tests: oidc-provider (npm), with users who consent at once, and a port
 * for the test's wishes. Prints one line of JSON with both addresses when it listens.
 *
 *   node server.mjs DIRECTORY_OF_NODE_MODULES '{"setting": …}'
 *
 * The test posts JSON to the control port: {"do": "settings", …} changes what is in `wish`;
 * "approve" and "deny" answer for the user of a device code ("after": so many ms later); "grant" makes tokens without a login;
 * "revoke" makes the server forget an access token, or all of them; "counts" tells how many
 * requests of each grant were answered with which code.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.argv[2]}/`);
const { Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);

const wish = { life: 3600, rotate: true, delay: 0, interval: 1, fault: null, faults: 0,
  ...JSON.parse(process.argv[3] || '{}') };
const counts = {};
const issued = new Set();

const store = new Map();
class Memory {
  constructor(name) { this.name = name; }
  key(id) { return `${this.name}:${id}`; }
  async upsert(id, payload) { store.set(this.key(id), payload); }
  async find(id) { return store.get(this.key(id)); }
  async findBy(field, value) {
    for (const [key, payload] of store) {
      if (key.startsWith(`${this.name}:`) && payload[field] === value) { return payload; }
    }
    return undefined;
  }
  async findByUserCode(code) { return this.findBy('userCode', code); }
  async findByUid(uid) { return this.findBy('uid', uid); }
  async consume(id) { store.get(this.key(id)).consumed = Math.floor(Date.now() / 1000); }
  async destroy(id) { store.delete(this.key(id)); }
  async revokeByGrantId(grantId) {
    for (const [key, payload] of store) {
      if (payload.grantId === grantId) { store.delete(key); }
    }
  }
}

const native = { application_type: 'native', redirect_uris: ['http://127.0.0.1/'],
  response_types: ['code'], grant_types: ['authorization_code', 'refresh_token',
    'urn:ietf:params:oauth:grant-type:device_code'] };
const service = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
const clients = [
  { ...native, client_id: 'public', token_endpoint_auth_method: 'none' },
  { ...native, client_id: 'other', token_endpoint_auth_method: 'none' },
  { ...native, client_id: 'confidential', client_secret: 'conf s3cret:+&=',
    token_endpoint_auth_method: 'client_secret_basic' },
  { ...service, client_id: 'service', client_secret: 'service-s3cret',
    token_endpoint_auth_method: 'client_secret_post' },
  { ...service, client_id: 'dovecot', client_secret: 'dovecot-s3cret',
    token_endpoint_auth_method: 'client_secret_basic' },
];
for (const [id, jwk, algorithm] of wish.certificates || []) {
  clients.push({ ...service, client_id: id, token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: algorithm, jwks: { keys: [jwk] } });
}

const provider = new Provider(wish.issuer, {
  adapter: Memory,
  clients,
  scopes: ['openid', 'offline_access', 'mail'],
  claims: { openid: ['sub'] },
  findAccount: async (ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  pkce: { required: () => true },
  rotateRefreshToken: () => wish.rotate,
  issueRefreshToken: async () => true,
  clientBasedCORS: () => false,
  ttl: {
    AccessToken: () => wish.life, ClientCredentials: () => wish.life, DeviceCode: () => 600,
    RefreshToken: 86400, Grant: 86400, Session: 600, Interaction: 600, IdToken: 600,
    AuthorizationCode: 60,
  },
  features: {
    devInteractions: { enabled: false }, deviceFlow: { enabled: true },
    clientCredentials: { enabled: true }, revocation: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
  },
});

async function newGrant(clientId, accountId) {
  const grant = new provider.Grant({ clientId, accountId });
  grant.addOIDCScope('openid offline_access mail');
  return grant.save();
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/* What a broken or hostile server answers. Undefined: the real answer. */
const faults = {
  async huge(ctx) { ctx.type = 'json'; ctx.body = `{"access_token":"${'x'.repeat(10485760)}"}`; },
  async redirect(ctx) { ctx.redirect(wish.target); ctx.status = 307; },
  async text(ctx) { ctx.body = 'this is not JSON'; },
  async down(ctx) { ctx.status = 503; ctx.set('Retry-After', '120'); ctx.body = 'try later'; },
  async control(ctx) { ctx.body = '{"access_token":"a\\u0001b","token_type":"Bearer"}'; },
  async echo(ctx) {
    ctx.status = 400;
    ctx.body = { error: 'invalid_grant', error_description: `no such token: ${wish.secret}` };
  },
  async slow_down(ctx) { ctx.status = 400; ctx.body = { error: 'slow_down' }; },
  async slow(ctx) { await pause(wish.delay); return true; },
};

provider.use(async (ctx, next) => {
  const isToken = ctx.path === '/token';
  let goesOn = true;
  if (isToken && wish.fault && wish.faults !== 0) {
    wish.faults -= 1;
    goesOn = await faults[wish.fault](ctx) === true;
  }
  if (goesOn) { await next(); }
  if (isToken) {
    const grant = (ctx.oidc?.params?.grant_type || 'fault').replace(/^.*:/, '');
    const key = `${grant} ${ctx.status}`;
    counts[key] = (counts[key] || 0) + 1;
    if (ctx.body?.access_token && grant !== 'fault') {
      issued.add(ctx.body.access_token);
      if (wish.ends) { ctx.body = { ...ctx.body, refresh_token_expires_in: wish.ends }; }
    }
  }
  if (ctx.path === '/device/auth' && ctx.body?.device_code) {
    ctx.body = { ...ctx.body, interval: wish.interval };
  }
});

/* The login page: the user consents at once, or denies. */
async function interaction(request, response) {
  const { params, prompt } = await provider.interactionDetails(request, response);
  if (wish.denies) {
    return provider.interactionFinished(request, response,
      { error: 'access_denied', error_description: 'the user said no' });
  }
  const grantId = await newGrant(params.client_id, wish.user);
  const result = prompt.name === 'login' ? { login: { accountId: wish.user } }
    : { consent: { grantId } };
  return provider.interactionFinished(request, response, result,
    { mergeWithLastSubmission: true });
}

const actions = {
  async settings(asked) { Object.assign(wish, asked); return {}; },
  async approve({ code, user, after = 0 }) {
    const approve = async () => {
      const device = await provider.DeviceCode.findByUserCode(code.replace('-', ''));
      const grantId = await newGrant(device.clientId, user);
      Object.assign(device, { accountId: user, grantId, scope: device.params.scope,
        authTime: Math.floor(Date.now() / 1000), gty: 'device_code' });
      await device.save();
    };
    if (after > 0) { setTimeout(approve, after); } else { await approve(); }
    return {};
  },
  async deny({ code }) {
    const device = await provider.DeviceCode.findByUserCode(code.replace('-', ''));
    Object.assign(device, { error: 'access_denied', errorDescription: 'the user said no' });
    await device.save();
    return {};
  },
  async grant({ client: clientId, user, life }) {
    const client = await provider.Client.find(clientId);
    const about = { accountId: user, client, grantId: await newGrant(clientId, user),
      scope: 'openid offline_access mail', gty: 'device_code' };
    const access = new provider.AccessToken({ ...about, expiresIn: life });
    const refresh = await new provider.RefreshToken(about).save();
    const token = await access.save();
    issued.add(token);
    return { access_token: token, refresh_token: refresh };
  },
  async revoke({ token }) {
    for (const one of token ? [token] : [...issued]) {
      const found = await provider.AccessToken.find(one)
        || await provider.ClientCredentials.find(one);
      if (found) { await found.destroy(); }
    }
    return {};
  },
  async counts() { return counts; },
};

const application = provider.callback();
function answer(request, response) {
  if (request.url.startsWith('/interaction/')) {
    interaction(request, response).catch((e) => response.writeHead(500).end(String(e)));
  } else {
    application(request, response);
  }
}
const server = wish.tls ? createSecureServer({ key: readFileSync(wish.tls.key),
  cert: readFileSync(wish.tls.cert) }, answer) : createServer(answer);
const control = createServer(async (request, response) => {
  try {
    let text = '';
    for await (const piece of request) { text += piece; }
    const { do: name, ...asked } = JSON.parse(text);
    response.end(JSON.stringify(await actions[name](asked)));
  } catch (e) {
    response.writeHead(500).end(String(e.stack));
  }
});
const port = Number(new URL(wish.issuer).port);
server.listen(port, '127.0.0.1', () => control.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ control: control.address().port }));
}));
