/**
 * Identity by signatures of version 4: which access key signed a request of the S3 API, or the policy of a browser form. [AWS S3 API reference]
 *
 * Owns: the order of the checks. Rules: what a signature shows by itself, such as its time, is refused before the state is asked; of a key nothing is said to a
 * caller that does not know its secret.
 */
import type { Config } from '../config/types.ts'
import type { AccessKeyId } from '../state-machine/base/record-ids.ts'
import type { View } from '../state-machine/base/view.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import type { Proof, RequestSigner } from './access.ts'
import type { SignedPolicy } from './signature-v4/signed-policy.ts'
import type { AccessKeyPrincipal, Connection } from './base/principal.ts'
import type { MasterKey } from './master-key.ts'
import { SignatureFault } from './signature-v4/signature-fault.ts'
import type { CredentialScope, SignedRequest } from './signature-v4/signed-request.ts'
import {
  checkPolicySignature,
  checkSignature,
  checkTime,
  signingOf,
} from './signature-v4/verify-signature.ts'
import { SigningKeys } from './signing-keys.ts'

/** Text from outside becomes part of a row key; nothing else than this is looked up. */
export const LOOKS_LIKE_KEY_ID = /^[A-Z0-9]{1,64}$/

export interface SignatureAccessParts {
  readonly masterKey: Pick<MasterKey, 'open'>
  readonly state: View
  readonly config: Pick<Config, 'security'>
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  /** Throws while the master key may be another than that of the cluster; absent: it is known to be the same. */
  readonly requireKey?: () => void
  /** Whether the key may be used now, from there. Throws Refusal. */
  readonly holderOf: (record: AccessKeyRecord, connection: Connection) => AccessKeyPrincipal
}

export class SignatureAccess {
  readonly #parts: SignatureAccessParts
  readonly #signingKeys: SigningKeys

  constructor(parts: SignatureAccessParts) {
    this.#parts = parts
    this.#signingKeys = new SigningKeys(parts.masterKey)
  }

  /** See Access.openSignature. */
  openSignature(signed: SignedRequest): Proof<RequestSigner> {
    const { config, now } = this.#parts
    const expiresSecondsMax = Math.floor(config.security.maxPresignTtlMs / 1000)
    checkTime(signed, { nowMs: now(), expiresSecondsMax })
    return (connection) => {
      const check = (key: Uint8Array): void => checkSignature(signed, key)
      const { principal, key } = this.#signer(signed.credential, connection, check)
      return { principal, signing: signingOf(signed, key) }
    }
  }

  /** See Access.openPolicy. */
  openPolicy({ credential, policy, signature }: SignedPolicy): Proof<AccessKeyPrincipal> {
    const check = (key: Uint8Array): void => checkPolicySignature(policy, signature, key)
    return (connection) => this.#signer(credential, connection, check).principal
  }

  #signer(
    scope: CredentialScope,
    connection: Connection,
    check: (key: Uint8Array) => void,
  ): { readonly principal: AccessKeyPrincipal; readonly key: Uint8Array } {
    const record = this.#recordOf(scope.accessKeyId)
    if (record === undefined) {
      this.#parts.requireKey?.()
      throw new SignatureFault('InvalidAccessKeyId', 'The access key id of the signature does not exist here')
    }
    const key = this.#signingKeys.proved(record, scope, check)
    return { principal: this.#parts.holderOf(record, connection), key }
  }

  #recordOf(accessKeyId: AccessKeyId): AccessKeyRecord | undefined {
    if (!LOOKS_LIKE_KEY_ID.test(accessKeyId)) return undefined
    return this.#parts.state.get(tenantKeys.accessKey(accessKeyId))
  }
}
