/**
 * Servers with an identity provider, and browsers that log in there, for tests of the log-in over HTTP.
 *
 * Rule: a browser here keeps cookies and nothing else; what a page would send, a test sends.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { OidcSettings } from '../../src/config/types.ts'
import { CLIENT, OidcServer } from '../helpers/oidc-server.ts'
import { type ApiAnswer, ApiWorld, type Ask } from './api-world.ts'

export const LOG_IN = '/console/log-in'
export const SESSION = '/admin/api/v1/session'
export const TENANTS = '/admin/api/v1/tenants'
export const OWN_PAGE = { 'x-holdfast-console': '1', 'sec-fetch-site': 'same-origin' }
export const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Browser {
  /** By name. */
  readonly cookies: Map<string, string>
  /** The last `Set-Cookie` of each name. */
  readonly set: Map<string, string>
  readonly call: (ask: Ask) => Promise<ApiAnswer>
}

/** Keeps cookies as a browser does, and nothing else. */
function browserOf(world: ApiWorld): Browser {
  const cookies = new Map<string, string>()
  const set = new Map<string, string>()
  const call = async (ask: Ask): Promise<ApiAnswer> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie === '' ? {} : { cookie }), ...ask.headers }
    const answer = await world.send({ admin: true, ...ask, headers })
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      set.set(name, line)
      if (/Max-Age=0/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  return { cookies, set, call }
}

interface World {
  readonly world: ApiWorld
  readonly server: OidcServer
  readonly open: () => Browser
}

export async function start(
  t: Test,
  more: Partial<OidcSettings> & { readonly consoleUrl?: string } = {},
): Promise<World> {
  const server = await OidcServer.start(t, 'ES256')
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-log-in-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const clientSecretFile = join(dir, 'secret')
  writeFileSync(clientSecretFile, `${CLIENT.secret}\n`, { mode: 0o600 })
  const { consoleUrl, ...settings } = more
  const oidc: OidcSettings = {
    issuer: server.issuer,
    name: 'Test SSO',
    clientId: CLIENT.id,
    clientSecretFile,
    ca: null,
    scopes: ['openid'],
    groupsClaim: 'groups',
    nameClaim: 'preferred_username',
    rules: [
      { group: 'storage-admins', role: 'owner', tenantId: null, mayMakeKeys: true },
      { group: 'watchers', role: 'viewer', tenantId: null, mayMakeKeys: true },
      { group: 'acme-ops', role: 'operator', tenantId: 'acme', mayMakeKeys: false },
    ],
    sessionMs: 8 * HOUR_MS,
    idleMs: 30 * MINUTE_MS,
    logsOutAtProvider: false,
    ...settings,
  }
  const world = await ApiWorld.start(t, { oidc, ...(consoleUrl === undefined ? {} : { consoleUrl }) })
  return { world, server, open: () => browserOf(world) }
}

export function later({ world: { memory } }: World, ms: number): void {
  memory.now += ms
}

/** To the provider and back. */
export async function wayBack(browser: Browser): Promise<string> {
  const began = await browser.call({ path: LOG_IN })
  const { headers } = await fetch(String(began.headers.location), { redirect: 'manual' })
  const { pathname, search } = new URL(headers.get('location') ?? '')
  return pathname + search
}

export async function loggedIn({ open }: Pick<World, 'open'>): Promise<Browser> {
  const browser = open()
  const { status, headers } = await browser.call({ path: await wayBack(browser) })
  t.match({ status, headers }, { status: 303, headers: { location: '/console/' } })
  return browser
}

export const session = (browser: Browser): string =>
  [...browser.cookies].find(([name]) => /session/.test(name))?.[1] ?? ''
export const asked = (browser: Browser, path = SESSION, more: Ask['headers'] = {}) =>
  browser.call({ path, headers: { ...OWN_PAGE, ...more } })
export const post = (browser: Browser, what: string, headers: Ask['headers'] = OWN_PAGE) =>
  browser.call({ method: 'POST', path: `${LOG_IN}/${what}`, ...(headers === undefined ? {} : { headers }) })
