/**
 * Who signed a request of the S3 API: reads the signature, and asks identity for the key behind it.
 *
 * Owns: how Node's request becomes what was signed. Rules: what a signature shows by itself, such as its time, is refused before the cluster is asked
 * anything; whether its key is good is asked behind a read barrier, as for a bearer token. [decisions 1, 17]
 */
import type { IncomingMessage } from 'node:http'
import type { Proof, RequestSigner } from '../../../access/access.ts'
import {
  isSignedInQuery,
  type RawRequest,
  readSignedRequest,
  type SignedRequest,
} from '../../../access/signature-v4/signed-request.ts'
import { payloadProof, type PayloadProof } from '../../../access/signature-v4/verify-signature.ts'
import type { Services } from '../../../operations/base/services.ts'
import { originForm, pathOf } from '../../request-target.ts'
import { S3Fault } from '../base/s3-errors.ts'

export interface OpenedSignature {
  readonly signed: SignedRequest
  readonly payload: PayloadProof
  readonly proof: Proof<RequestSigner>
}

/** As Node has it; `method` may be the one that a preflight asks about. */
export type SentRequest = Pick<IncomingMessage, 'headers' | 'method' | 'rawHeaders'>

/** `target`: of the request line. Throws SignatureFault; S3Fault AccessDenied where nothing is signed. */
export function openSignature({ access }: Services, raw: SentRequest, target: string): OpenedSignature {
  const signed = readSignedRequest(rawRequestOf(raw, target))
  if (signed === null)
    throw new S3Fault(
      'AccessDenied',
      'The request is not signed: sign it with AWS4-HMAC-SHA256 and an access key, there is no public access',
    )
  if (raw.headers['x-amz-security-token'] !== undefined || hasToken(target))
    throw new S3Fault(
      'InvalidToken',
      'The request has a session token, which no access key here has: sign with the access key alone',
    )
  return { signed, payload: payloadProof(signed), proof: access.openSignature(signed) }
}

const hasToken = (target: string): boolean => new URLSearchParams(queryOf(target)).has('X-Amz-Security-Token')

/** Whether the signature stands in the query, so that the request may be a link that somebody followed. */
export function isPresigned(target: string): boolean {
  return isSignedInQuery(queryOf(target))
}

/** As it was sent, without `?`. */
const queryOf = (target: string): string => target.slice(pathOf(target).length + 1)

export function rawRequestOf(
  { method = '', rawHeaders }: Pick<IncomingMessage, 'method' | 'rawHeaders'>,
  target: string,
): RawRequest {
  const url = originForm(target)
  const path = pathOf(url)
  const headers: [string, string][] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.push([(rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? ''])
  return { method, path, query: queryOf(url), headers }
}
