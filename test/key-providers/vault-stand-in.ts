/**
 * Transit and three ways to log in, as HashiCorp Vault and OpenBao answer. [Vault API: secret/transit, auth/token, auth/approle, auth/jwt]
 *
 * Owns: statuses and bodies. The suite that runs over it also runs over a real server, which keeps it honest.
 */
import { randomBytes } from 'node:crypto'
import { SealingVersions } from './sealing-versions.ts'
import { type Answered, type Asked, StandIn, type StandInTls } from './stand-in.ts'

const DENIED: Answered = { status: 403, body: { errors: ['permission denied'] } }
const wrong = (text: string): Answered => ({ status: 400, body: { errors: [text] } })

export class VaultStandIn extends StandIn {
  readonly #keys = new Map<string, SealingVersions>()
  readonly #tokens = new Set<string>()
  /** Role -> credential, by the path of the method. */
  readonly #roles = new Map<string, string>()
  namespace: string | null = null
  leaseSeconds = 3600
  /** Whether a policy lets a token read what a key is. */
  describes = true
  /** As Vault 1.14 answered a wrong secret id. */
  answersOldLogins = false

  constructor(tls: StandInTls | null = null) {
    super(tls)
  }

  createKey(name: string): void {
    this.#keys.set(name, new SealingVersions())
  }

  rotateKey(name: string): void {
    this.#keys.get(name)?.rotate()
  }

  issueToken(): string {
    const token = `hvs.${randomBytes(18).toString('base64url')}`
    this.#tokens.add(token)
    return token
  }

  /** All tokens are over. */
  expireTokens(): void {
    this.#tokens.clear()
  }

  get tokens(): number {
    return this.#tokens.size
  }

  allow(method: string, role: string, credential: string): void {
    this.#roles.set(`${method}/${role}`, credential)
  }

  protected answer(asked: Asked): Answered {
    const { path, headers, body } = asked
    if ((headers['x-vault-namespace'] ?? null) !== this.namespace) return wrong('no handler for route')
    const [, method] = /^\/v1\/auth\/([^/]+)\/login$/.exec(path) ?? []
    if (method !== undefined) return this.#login(method, body)
    if (!this.#tokens.has(String(headers['x-vault-token']))) return DENIED
    if (path === '/v1/auth/token/renew-self') return { status: 200, body: { auth: {} } }
    return this.#transit(asked)
  }

  #login(method: string, body: Asked['body']): Answered {
    const role = body['role_id'] ?? body['role'] ?? ''
    const credential = body['secret_id'] ?? body['jwt']
    if (this.#roles.get(`${method}/${role}`) !== credential || credential === undefined)
      return this.answersOldLogins
        ? { status: 500, body: { errors: ['invalid secret id'] } }
        : wrong('invalid role or secret ID')
    const auth = { client_token: this.issueToken(), lease_duration: this.leaseSeconds, renewable: true }
    return { status: 200, body: { auth } }
  }

  #transit({ path, method, body }: Asked): Answered {
    const [, action = '', name = ''] = /^\/v1\/transit\/(encrypt|decrypt|keys)\/([^/]+)$/.exec(path) ?? []
    const key = this.#keys.get(name)
    if (key === undefined)
      return action === 'keys' ? { status: 404, body: { errors: [] } } : wrong('encryption key not found')
    if (action === 'keys' && method === 'GET')
      return this.describes ? { status: 200, body: { data: { name, latest_version: key.newest } } } : DENIED
    if (action === 'encrypt') {
      const { version, sealed } = key.seal(Buffer.from(body['plaintext'] ?? '', 'base64'))
      return {
        status: 200,
        body: { data: { ciphertext: `vault:v${version}:${sealed}`, key_version: version } },
      }
    }
    const [, version, sealed = ''] = /^vault:v(\d+):(.+)$/.exec(body['ciphertext'] ?? '') ?? []
    const opened = key.open(Number(version), sealed)
    if (opened === null) return wrong('invalid ciphertext: unable to decrypt')
    const plain = this.fault === 'lying' ? randomBytes(32) : opened
    return { status: 200, body: { data: { plaintext: Buffer.from(plain).toString('base64') } } }
  }
}
