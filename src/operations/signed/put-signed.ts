/**
 * putSigned: authorized by the URL, then putObject under what the URL says. [native: Signed URL token 2]
 *
 * Rules: where URL and upload both speak of a thing, the URL is obeyed: a size or digest is checked, a type is stored. Tags
 * and locks cannot be set here; a URL cannot name them. Whether it has expired was asked when the request began, and is not
 * asked again: an upload takes as long as it takes. [decisions 8]
 */
import type { SignedUrl, SignedUrlPrincipal } from '../../access/base/signed-url.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { type Claims, parseClaims } from '../../content/checksums.ts'
import { dataOperation } from '../base/operation.ts'
import { keyTarget } from '../base/targets.ts'
import { putObject, type PutObjectInput, type StoredObject } from '../objects/put-object.ts'
import { PLAIN_VERSION_REFUSALS } from '../objects/refusals.ts'

type PutSignedInput = Omit<PutObjectInput, 'tags' | 'retention' | 'legalHold' | 'sizeMax' | 'wanted'>

export const putSigned = dataOperation(
  {
    id: 'putSigned',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    coveredByUrl: { method: 'PUT', isRequired: true },
    refuses: [
      ...PLAIN_VERSION_REFUSALS,
      'checksum_required',
      'idempotency_conflict',
      'idempotency_in_progress',
    ],
    target: keyTarget,
  },
  async (services, principal: SignedUrlPrincipal, input: PutSignedInput): Promise<StoredObject> => {
    const { signedUrl: url } = principal
    return putObject(services, principal, {
      ...input,
      tags: {},
      retention: null,
      legalHold: false,
      contentType: url.contentType ?? input.contentType,
      sizeMax: url.contentLengthMax ?? Infinity,
      claimed: claimsUnder(url, input.claimed),
      idempotencyKey: idempotencyKeyUnder(url, input.idempotencyKey),
      // Replaces the checksum that a request with an idempotency key has to bring. [decisions 14]
      wanted: url.idempotencyKey === null ? [] : ['SHA256'],
    })
  },
)

/** Throws Refusal checksum_mismatch where the two cannot both be true. */
function claimsUnder({ checksumAlg, checksumVal }: SignedUrl, claimed: Claims): Claims {
  if (checksumAlg === null || checksumVal === null) return claimed
  const own = claimed.get(checksumAlg)
  if (own !== undefined && Buffer.from(own).toString('base64') !== checksumVal)
    throw new Refusal(
      'checksum_mismatch',
      `The upload claims another ${checksumAlg} than the signed URL asks for, which is '${checksumVal}'`,
    )
  return new Map([...claimed, ...parseClaims([[checksumAlg, checksumVal]])])
}

function idempotencyKeyUnder({ idempotencyKey }: SignedUrl, given: string | null): string | null {
  if (idempotencyKey === null) return given
  if (given !== null && given !== idempotencyKey)
    throw new Refusal(
      'invalid_request',
      'Idempotency-Key differs from the one that the signed URL brings: leave it out',
    )
  return idempotencyKey
}
