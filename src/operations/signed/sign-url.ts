/**
 * signURL: authorize -> one target, fields of one method -> authorize for that target -> exists -> terms -> token.
 * [native: Signed-URL mint request body] [decisions 8, 14, 16]
 *
 * Rules: a URL grants nothing that its key may not do itself, so the request is authorized as the operation that the URL is for.
 * The bucket must exist, the object need not: a URL may be made before its object.
 */
import type { SignedUrlGrant } from '../../access/access.ts'
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { SignedMethod, SignedUrlTerms } from '../../access/base/signed-url.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { getObject } from '../objects/get-object.ts'
import { findKey } from '../objects/object-checks.ts'
import { checkObjectKey } from '../objects/object-key.ts'
import { putObject } from '../objects/put-object.ts'
import { constraintsOf, type SignedUrlConstraints } from './constraints.ts'

export interface SignUrlInput extends SignedUrlConstraints {
  readonly method: SignedMethod
  readonly bucket: string
  readonly key?: string
  readonly keyPrefix?: string
  readonly ttlSeconds?: number
}

export interface MintedUrl extends SignedUrlGrant {
  readonly terms: SignedUrlTerms
}

/** The feature level since which every node reads tokens with a hidden holder. */
const HIDDEN_HOLDER_LEVEL = 4

const FIELDS_OF: Readonly<Record<SignedMethod, readonly (keyof SignUrlInput)[]>> = {
  GET: ['responseContentType', 'responseContentDisposition'],
  PUT: ['keyPrefix', 'contentType', 'contentLengthMax', 'checksumAlg', 'checksumVal', 'idempotencyKey'],
}

export const signUrl = dataOperation(
  {
    id: 'signURL',
    // The body authorizes the request as getObject or putObject, whichever the URL is for.
    requires: accessKey(null, 'tenant'),
    s3Action: null,
    refuses: ['invalid_key', 'not_found', 'checksum_malformed', 'checksum_unsupported'],
    target: noTarget,
  },
  async (services, principal, input: SignUrlInput): Promise<MintedUrl> => {
    refuseForeignFields(input)
    const target = targetFor(services, principal, input)
    const terms = { method: input.method, bucket: input.bucket, ...target, ...constraintsOf(input) }
    // A member that is older would refuse a token that it cannot read.
    const isHolderHidden = await services.cluster.reachesLevel(HIDDEN_HOLDER_LEVEL, 0)
    const ttlSeconds = input.ttlSeconds ?? null
    return { ...services.access.signUrl(principal, terms, { ttlSeconds, isHolderHidden }), terms }
  },
)

function refuseForeignFields(input: SignUrlInput): void {
  const { method } = input
  const other = method === 'GET' ? 'PUT' : 'GET'
  const foreign = FIELDS_OF[other].filter((name) => input[name] !== undefined)
  if (foreign.length === 0) return
  const named = foreign.map((name) => `"${name}"`).join(', ')
  throw new Refusal(
    'invalid_request',
    `A ${method} URL does not take ${named}: of a ${other} URL only; it takes ${FIELDS_OF[method].join(', ')}`,
  )
}

/** Throws Refusal invalid_request, access_denied, not_found, invalid_key. */
function targetFor(
  services: Services,
  principal: AccessKeyPrincipal,
  { method, bucket, key, keyPrefix }: SignUrlInput,
): Pick<SignedUrlTerms, 'key' | 'keyPrefix'> {
  const operation = method === 'GET' ? getObject : putObject
  const { state } = services
  if ((key === undefined) === (keyPrefix === undefined))
    throw new Refusal(
      'invalid_request',
      method === 'GET' ? '"key" is missing' : 'Give either "key" or "keyPrefix", and one of them',
    )
  if (key !== undefined) {
    authorize(principal, operation, { bucket, key }, state)
    return { key: findKey(services, principal, { bucket, key }).key, keyPrefix: null }
  }
  if (keyPrefix === '' || keyPrefix === undefined)
    throw new Refusal(
      'invalid_request',
      '"keyPrefix" is empty, which would be the whole bucket: name a prefix',
    )
  authorize(principal, operation, { bucket, key: keyPrefix }, state)
  findBucket(services, principal.tenantId, bucket)
  return { key: null, keyPrefix: checkObjectKey(keyPrefix) }
}
