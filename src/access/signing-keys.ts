/**
 * The signing keys of access keys, each for one day and one region, so that a secret is opened once a day and not for each request.
 *
 * Owns: the cache and its bound. Rules: a rotation changes the version of the key, and with it the place in the cache; whether the access key is good is
 * asked at every request, so a cached signing key opens nothing by itself; only a key whose signature was right is kept, so that callers without a
 * secret fill nothing.
 */
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import type { MasterKey } from './master-key.ts'
import { accessKeySecret } from './sealing-contexts.ts'
import type { CredentialScope } from './signature-v4/signed-request.ts'
import { signingKey } from './signature-v4/signing-key.ts'

/** Of one node; 32 bytes and a name each. */
export const SIGNING_KEYS_MAX = 10_000

export class SigningKeys {
  readonly #masterKey: Pick<MasterKey, 'open'>
  readonly #keys = new Map<string, Uint8Array>()

  constructor(masterKey: Pick<MasterKey, 'open'>) {
    this.#masterKey = masterKey
  }

  get size(): number {
    return this.#keys.size
  }

  /** Returns the key that `prove` accepted. Throws what `prove` throws: the signature is wrong. */
  proved(record: AccessKeyRecord, scope: CredentialScope, prove: (key: Uint8Array) => void): Uint8Array {
    const name = `${record.accessKeyId} ${record.version} ${scope.date} ${scope.region}`
    const key = this.#keys.get(name) ?? this.#derive(record, scope)
    prove(key)
    // Moved to the end: the key that was used longest ago is the first.
    this.#keys.delete(name)
    this.#keys.set(name, key)
    if (this.#keys.size > SIGNING_KEYS_MAX) this.#forgetOldest()
    return key
  }

  #derive({ accessKeyId, secret }: AccessKeyRecord, scope: CredentialScope): Uint8Array {
    const opened = this.#masterKey.open(secret, accessKeySecret(accessKeyId))
    return signingKey(Buffer.from(opened).toString('utf8'), scope)
  }

  #forgetOldest(): void {
    for (const oldest of this.#keys.keys()) {
      this.#keys.delete(oldest)
      return
    }
  }
}
