/**
 * putSigned: authorized by the URL, then putObject under what the URL says. [native: Signed URL token 2]
 *
 * Rules: where URL and upload both speak of a thing, the URL is obeyed: a size or digest is checked, a type is stored. Tags
 * and locks are nobody's here; a URL cannot name them. Whether it has expired was asked when the request began, and is not
 * asked again: an upload takes as long as it takes. [decisions 8]
 */
import { authorize } from '../../access/authorize.ts'
import type { SignedUrl, SignedUrlPrincipal } from '../../access/base/signed-url.ts'
import { type Claims, parseClaims } from '../../content/checksums.ts'
import { Refusal } from '../../base/refusal.ts'
import { putObject, type PutObjectInput, type StoredObject } from '../objects/put-object.ts'
import type { Services } from '../base/services.ts'

type PutSignedInput = Omit<PutObjectInput, 'tags' | 'retention' | 'legalHold' | 'sizeMax' | 'wanted'>

export async function putSigned(
  services: Services,
  principal: SignedUrlPrincipal,
  input: PutSignedInput,
): Promise<StoredObject> {
  authorize(principal, 'putSigned', input, services.state)
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
    // Stands in for the checksum that a request with an idempotency key has to bring. [decisions 14]
    wanted: url.idempotencyKey === null ? [] : ['SHA256'],
  })
}

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
