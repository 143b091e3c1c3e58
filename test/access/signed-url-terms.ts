/**
 * Terms of a signed URL for tests: a GET of one key without further constraints.
 */
import type { SignedUrlTerms } from '../../src/access/base/signed-url.ts'

export function testTerms(change: Partial<SignedUrlTerms> = {}): SignedUrlTerms {
  return {
    method: 'GET',
    bucket: 'photos',
    key: 'in/1',
    keyPrefix: null,
    contentType: null,
    contentLengthMax: null,
    checksumAlg: null,
    checksumVal: null,
    idempotencyKey: null,
    responseContentType: null,
    responseContentDisposition: null,
    reason: null,
    ...change,
  }
}
