/**
 * The log-in of people to the console, from the button to the session and back.
 *
 * Owns: the order of the steps, the pages a person sees when one fails. Knows nothing of: the protocol (src/access/oidc), rows and rights.
 * Rules: this node keeps nothing of a log-in that has started, so that it may end at another one; the provider is asked only for a browser that began here
 * within ten minutes; what goes wrong is in the log with its reason, and the page says what to do.
 */
import type { FastifyRequest } from 'fastify'
import { Condition } from '../../../cluster/index.ts'
import { BoundedFetch, ProviderFault } from '../../access/oidc/bounded-fetch.ts'
import { readAuthorities, readClientSecret } from '../../access/oidc/log-in-files.ts'
import { openPending, PENDING_SECONDS_MAX, sealPending } from '../../access/oidc/pending-cookie.ts'
import { personOf } from '../../access/oidc/person.ts'
import { OidcProvider } from '../../access/oidc/provider.ts'
import { Refusal } from '../../base/refusal.ts'
import type { OidcSettings } from '../../config/types.ts'
import type { OpeningSession } from '../../operations/sessions/open-session.ts'
import { openSession } from '../../operations/sessions/open-session.ts'
import type { Services } from '../../operations/base/services.ts'
import { escaped, smallPage } from '../pages/small-page.ts'
import { originForm } from '../request-target.ts'
import type { Answer } from '../route.ts'
import { type CookieJar, cookieJar } from '../sessions/session-cookie.ts'

export const LOG_IN = '/console/log-in'
export const CALLBACK = `${LOG_IN}/callback`
const CONSOLE = '/console/'
/** Log-ins that wait for the provider at the same time. */
const WAITING_MAX = 32

/** An answer with what the browser is to keep. */
export interface LogInAnswer {
  readonly answer: Answer
  readonly cookies: readonly string[]
  /** Of a step that failed, for the audit log. */
  readonly code?: string
}

export class ConsoleLogIn {
  readonly jar: CookieJar
  readonly #services: Services
  readonly #settings: OidcSettings
  #provider: Promise<OidcProvider> | null = null
  #fetching: BoundedFetch | null = null
  #waiting = 0

  constructor(services: Services, settings: OidcSettings) {
    this.#services = services
    this.#settings = settings
    this.jar = cookieJar(services.config.console.url)
  }

  /** Sends the browser to the provider. Does not throw what a person can meet. */
  begin(): Promise<LogInAnswer> {
    return this.#said(async () => {
      const { location, pending } = await (await this.#ready()).begin()
      const { signing, cluster } = this.#services
      const text = sealPending(pending, signing, cluster.time.now())
      return { answer: redirect(location), cookies: [this.jar.keepPending(text, PENDING_SECONDS_MAX)] }
    })
  }

  /** The way back. `as`: through it the entry of the session names the person. */
  finish(request: FastifyRequest, as: OpeningSession['as']): Promise<LogInAnswer> {
    return this.#said(async () => {
      const { signing, cluster } = this.#services
      const pending = openPending(this.jar.pending(request.headers.cookie) ?? '', signing, cluster.time.now())
      if (pending === null)
        throw new Refusal('invalid_request', 'This browser began no log-in within the last ten minutes')
      const query = new URLSearchParams(originForm(request.originalUrl).split('?')[1] ?? '')
      const claims = await (await this.#ready()).finish(query, pending)
      const person = personOf(claims, this.#settings)
      const { record, secret } = await openSession(this.#services, { person, life: this.#settings, as })
      const cookies = [
        this.jar.keepSession(secret, this.secondsLeft(record.session?.endsAt ?? 0)),
        this.jar.forgetPending,
      ]
      return { answer: redirect(CONSOLE), cookies }
    })
  }

  /** Where a browser that has logged out here logs out at the provider; null: nowhere, by setting or because the provider does not say. */
  async providerEnd(): Promise<string | null> {
    if (!this.#settings.logsOutAtProvider) return null
    try {
      return await (await this.#ready()).end(`${this.#services.config.console.url}${CONSOLE}`)
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error
      this.#services.logger.warn({ err: error }, 'log-out at the identity provider failed')
      return null
    }
  }

  /** Until the end of a session; its idle time is the business of the cluster. */
  secondsLeft(endsAt: number): number {
    return Math.max(0, Math.ceil((endsAt - this.#services.cluster.time.now()) / 1000))
  }

  async close(): Promise<void> {
    await this.#fetching?.close()
  }

  /** A failure to read the files is not kept. */
  #ready(): Promise<OidcProvider> {
    this.#provider ??= this.#made().catch((error: unknown) => {
      this.#provider = null
      throw error
    })
    return this.#provider
  }

  async #made(): Promise<OidcProvider> {
    const { config, cluster } = this.#services
    const { ca, clientSecretFile } = this.#settings
    const fetching = new BoundedFetch(await readAuthorities(ca))
    this.#fetching = fetching
    return new OidcProvider({
      settings: this.#settings,
      redirectUri: `${config.console.url}${CALLBACK}`,
      secret: () => readClientSecret(clientSecretFile),
      fetching,
      now: () => cluster.time.now(),
    })
  }

  async #said(step: () => Promise<LogInAnswer>): Promise<LogInAnswer> {
    if (this.#waiting >= WAITING_MAX)
      return this.#failed(
        503,
        'slow_down',
        'Too many people are logging in at the same time. Try again in a moment.',
      )
    this.#waiting++
    try {
      return await step()
    } catch (error) {
      return this.#page(error)
    } finally {
      this.#waiting--
    }
  }

  #page(error: unknown): LogInAnswer {
    if (error instanceof ProviderFault) {
      this.#services.logger.warn({ err: error }, 'log-in at the identity provider failed')
      return this.#failed(
        401,
        'invalid_credentials',
        'The identity provider did not confirm the log-in. Try again; if this persists, the log of the node says why.',
      )
    }
    if (error instanceof Refusal && error.code === 'access_denied')
      return this.#failed(403, error.code, `${error.message}. Ask an operator of the store for a role.`)
    if (error instanceof Refusal) return this.#failed(400, error.code, `${error.message}.`)
    if (error instanceof Condition) return this.#failed(503, error.code, `${error.message}.`)
    throw error
  }

  #failed(status: number, code: string, why: string): LogInAnswer {
    const page = smallPage(
      'Not logged in',
      `<p>${escaped(why)}</p>\n<p><a href="${CONSOLE}">Back to the console</a></p>`,
    )
    return { answer: { ...page, status }, cookies: [this.jar.forgetPending], code }
  }
}

function redirect(location: string): Answer {
  return {
    kind: 'empty',
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  }
}
