/**
 * The way of a browser form through the S3 API. It is not signed in header or query, but by a policy among its fields.
 *
 *   fields, within 20 KiB and ten seconds -> signature is well-formed -> barrier -> authenticated -> policy -> limits, headers -> operation, which reads the file -> answer
 *
 * Rules: the file is not read before its policy is proved and met; what is stored is stored as by the holder of the key that signed.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SignedPolicy } from '../../../access/signature-v4/signed-policy.ts'
import { readSignedPolicy } from '../../../access/signature-v4/signed-policy.ts'
import type { Config } from '../../../config/types.ts'
import type { BodySource } from '../../../content/content.ts'
import type { Services } from '../../../operations/base/services.ts'
import { clientAddress } from '../../admission/client-address.ts'
import { UNPROVED_BODY_MS_MAX } from '../../admission/unproved-callers.ts'
import { readDigestHeaders } from '../../content-digests.ts'
import { Exchange } from '../../exchange.ts'
import { connectionOf, type Gate } from '../../proved-request.ts'
import { RequestAudit } from '../../request-audit.ts'
import type { Answer } from '../../route.ts'
import { expandedFields, isMeantField } from '../form/form-headers.ts'
import { boundaryOf, FIELDS_BYTES_MAX, type Form, readForm } from '../form/multipart-form.ts'
import { checkPostPolicy, type PostPolicy, readPostPolicy } from '../form/post-policy.ts'
import { postObjectRoute, storeForm } from '../objects/post-object.ts'
import { checksumClaims } from '../base/s3-bytes.ts'
import { enterRoute } from './s3-entry.ts'
import { S3Fault } from '../base/s3-errors.ts'
import type { S3Target } from './s3-target.ts'

const FORM = /^multipart\/form-data\s*(;|$)/i
/** As for signed requests. */
const SKEW_MS_MAX = 15 * 60_000

/** A POST to a bucket that is signed in no other way. */
export function isForm({ headers, method, originalUrl }: FastifyRequest, { level }: S3Target): boolean {
  const isUnsigned = headers.authorization === undefined && !originalUrl.includes('?')
  return method === 'POST' && level === 'bucket' && isUnsigned && FORM.test(headers['content-type'] ?? '')
}

/** Throws S3Fault, SignatureFault, Refusal, Condition. */
export async function answerForm(
  services: Services,
  pair: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { bucket, gate }: { readonly bucket: string; readonly gate: Gate },
): Promise<Answer> {
  const { request } = pair
  const { headers } = request
  const exchange = Exchange.of(request.raw, pair.reply.raw)
  if (checksumClaims(headers).size + readDigestHeaders(headers).size > 0)
    throw new S3Fault(
      'InvalidRequest',
      'A digest in a header is that of the whole form: give that of the file in a field',
    )
  const source = exchange.passingBytes()
  const sent = await fieldsBeforeProof(request, exchange, { gate, source })
  const signed = readSignedPolicy(sent.fields)
  if (sent.fields.has('x-amz-security-token'))
    throw new S3Fault('InvalidToken', 'The form has a session token, which no access key here has')
  const proof = services.access.openPolicy(signed)
  await services.cluster.readBarrier()
  const principal = proof(connectionOf(request))
  RequestAudit.of(request).principal = principal
  gate.unproved.proved(clientAddress(request))
  const fields = fieldsOf(expandedFields(sent.fields, sent.fileName), bucket)
  const key = keyIn(fields)
  const names = (): Readonly<Record<string, string>> => ({ bucket, key })
  const entered = await enterRoute(services, pair, { route: postObjectRoute, principal, bucket, names })
  const policy = readPostPolicy(signed.policy)
  const nowMs = principal.circumstances.at
  checkDuration(services.config, { policy, signed, nowMs })
  const size = checkPostPolicy(policy, fields, nowMs)
  const form = { bucket, key, fields, file: sent.file, size, heldMs: () => source.heldMs?.() ?? 0 }
  return storeForm(entered, principal, { form, call: { headers, signal: exchange.signal } })
}

/** Its sender has proved nothing yet: within a short time, and within the memory for all such senders. */
async function fieldsBeforeProof(
  request: FastifyRequest,
  exchange: Exchange,
  { gate, source }: { readonly gate: Gate; readonly source: BodySource },
): Promise<Form> {
  const boundary = boundaryOf(request.headers['content-type'] ?? '')
  const bytes = Math.min(exchange.length ?? FIELDS_BYTES_MAX, FIELDS_BYTES_MAX)
  const release = gate.unproved.holdBody(clientAddress(request), bytes)
  try {
    const limit = { ms: UNPROVED_BODY_MS_MAX, after: gate.after }
    return await exchange.within(limit, readForm(source, { boundary, isMeant: isMeantField }))
  } finally {
    release()
  }
}

/** The bucket of the path counts as a field, which a policy has to cover too. */
function fieldsOf(fields: ReadonlyMap<string, string>, bucket: string): ReadonlyMap<string, string> {
  const named = fields.get('bucket') ?? bucket
  if (named === bucket) return new Map([...fields, ['bucket', bucket]])
  throw new S3Fault('AccessDenied', 'The field "bucket" names another bucket than the address of the form')
}

function keyIn(fields: ReadonlyMap<string, string>): string {
  const key = fields.get('key')
  if (key === undefined) throw new S3Fault('InvalidArgument', 'The form has no field "key" before the file')
  if (key === '') throw new S3Fault('UserKeyMustBeSpecified', 'The field "key" of the form is empty')
  return key
}

interface Lasting {
  readonly policy: PostPolicy
  readonly signed: SignedPolicy
  readonly nowMs: number
}

/** What is signed for others lasts no longer than a presigned URL may. */
function checkDuration({ security }: Pick<Config, 'security'>, { policy, signed, nowMs }: Lasting): void {
  if (signed.signedAtMs - nowMs > SKEW_MS_MAX)
    throw new S3Fault('AccessDenied', 'The form is not valid yet: x-amz-date is in the future')
  if (policy.endsAt - signed.signedAtMs <= security.maxPresignTtlMs) return
  throw new S3Fault(
    'AccessDenied',
    `The policy of the form lasts longer than the ${Math.floor(security.maxPresignTtlMs / 1000)} seconds of security.max_presign_ttl`,
  )
}
