/**
 * A key service after its contract. [docs/formats/key-service.md]
 */
import { randomBytes } from 'node:crypto'
import { SealingVersions } from './sealing-versions.ts'
import { type Answered, type Asked, StandIn, type StandInTls } from './stand-in.ts'

const wrong = (status: number, error: string): Answered => ({ status, body: { error } })

export class KmsStandIn extends StandIn {
  readonly #keys = new Map<string, SealingVersions>()
  /** Null: clients show a certificate instead. */
  token: string | null = null

  constructor(tls: StandInTls | null = null) {
    super(tls)
  }

  createKey(name: string): void {
    this.#keys.set(name, new SealingVersions())
  }

  rotateKey(name: string): void {
    this.#keys.get(name)?.rotate()
  }

  protected answer({ method, path, headers, body }: Asked): Answered {
    if (this.token !== null && headers.authorization !== `Bearer ${this.token}`)
      return wrong(401, 'the token is not known')
    const [, name = '', action] = /^\/v1\/keys\/([^/]+)(?:\/(wrap|unwrap))?$/.exec(path) ?? []
    const key = this.#keys.get(decodeURIComponent(name))
    if (key === undefined) return wrong(404, 'there is no such key')
    if (action === undefined && method === 'GET')
      return { status: 200, body: { keyVersion: String(key.newest) } }
    if (action === 'wrap') {
      const { version, sealed } = key.seal(Buffer.from(body['plaintext'] ?? '', 'base64'))
      return { status: 200, body: { ciphertext: sealed, keyVersion: String(version) } }
    }
    const opened = key.open(Number(body['keyVersion']), body['ciphertext'] ?? '')
    if (opened === null) return wrong(400, 'the ciphertext is not of this key')
    const plain = this.fault === 'lying' ? randomBytes(32) : opened
    return { status: 200, body: { plaintext: Buffer.from(plain).toString('base64') } }
  }
}
