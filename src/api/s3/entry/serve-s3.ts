/**
 * The way of every request through the S3 API, in its fixed order; the same as that of the native API. [style: errors]
 *
 *   signature is well-formed and in time -> barrier -> authenticated -> action -> headers -> role, or scope -> body -> operation -> answer
 *
 * Rules: which action is meant, and that it does not exist, is said only to a caller that is proved; the operation authorizes before its body runs; no byte of a
 * body is asked for before that, so `100 Continue` follows the early checks.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestSigner } from '../../../access/access.ts'
import { refuseBeforeBody } from '../../../access/authorize.ts'
import type { Config } from '../../../config/types.ts'
import type { Services } from '../../../operations/base/services.ts'
import { clientAddress } from '../../admission/client-address.ts'
import { ClientGoneError, Exchange } from '../../exchange.ts'
import { dataFront } from '../../pages/data-front.ts'
import { sharedTurns } from '../../piece-turns.ts'
import type { ErrorAnswer, CompatibilityApi } from '../../plane.ts'
import { connectionOf, type Gate, lookingAgain, reportBroken } from '../../proved-request.ts'
import { RequestAudit } from '../../request-audit.ts'
import { passBarrier, takeBasis } from '../../request-basis.ts'
import { decodeObjectKey, originForm, parseQuery } from '../../request-target.ts'
import type { Answer } from '../../route.ts'
import { linkHeaders } from '../../link-headers.ts'
import { sendAnswer } from '../../send-answer.ts'
import { isLate, sendLate } from './late-answer.ts'
import { s3Bytes, withoutChecksums } from '../base/s3-bytes.ts'
import { findS3Route, type S3Table } from './s3-dispatch.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { takeHeadersOfQuery } from '../base/s3-headers.ts'
import { enterRoute } from './s3-entry.ts'
import { type OpenedSignature, openSignature } from './s3-proof.ts'
import type { S3Call, S3Route } from '../base/s3-route.ts'
import { type S3Places, type S3Target, s3TargetOf } from './s3-target.ts'
import { readJson, readXmlBody } from './s3-documents.ts'
import { answerForm, isForm } from './serve-form.ts'
import { answerPreflight, isPreflight } from './serve-preflight.ts'

/** Of a signature, or a header in the query: no handler looks at them there. */
const OF_PRESIGNED = /^x-amz-/i

export interface S3Parts {
  readonly table: S3Table
  readonly placesOf: (config: Pick<Config, 'listeners'>) => S3Places
  readonly errorAnswer: CompatibilityApi['errorAnswer']
}

export function serveS3(
  services: Services,
  { table, placesOf, errorAnswer }: S3Parts,
  gate: Gate,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const places = placesOf(services.config)
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const target = s3TargetOf(request.originalUrl, request.headers.host, places)
    const exchange = Exchange.of(request.raw, reply.raw)
    const onBroken = (error: Error): void => reportBroken(services, request, error)
    const audit = RequestAudit.of(request)
    const onReady = (status: number, bytes: number): Promise<void> => audit.beforeAnswer(status, bytes)
    const send = (answer: Answer, status: number): Promise<void> =>
      sendAnswer(reply, answer, { status, exchange, onReady, onBroken })
    if (isForm(request, target)) {
      const answer = await answerForm(services, { request, reply }, { bucket: target.bucket, gate })
      return send(answer, 204)
    }
    const front = target.level === 'object' ? null : dataFront(services.config, request, target.bucket)
    if (front !== null) {
      const refusal = gate.unproved.count(clientAddress(request))
      if (refusal !== null) throw refusal
      return send(front, 200)
    }
    if (isPreflight(request)) {
      const asked = { table, target, gate, queryOf: parametersOf, names: () => namesOf(target) }
      return send(await answerPreflight(services, { request, reply }, asked), 200)
    }
    const { bucket } = target
    audit.routed(null, () => namesOf(target))
    const opened = openSignature(services, request.raw, request.originalUrl)
    await passBarrier(services, { request, reply }, changesObject(request, target))
    const signer = opened.proof(connectionOf(request))
    const { principal } = signer
    audit.principal = principal
    gate.unproved.proved(clientAddress(request))
    const parameters = parseQuery(originForm(request.originalUrl))
    takeHeadersOfQuery(parameters, request.headers)
    const query = withoutPresigned(parameters)
    audit.query = query
    const route = findS3Route(table, { ...target, method: request.method, query, headers: request.headers })
    const entering = { route, principal, bucket, names: () => namesOf(target) }
    takeBasis(services, request, { principal, operation: route.operation, bucket })
    const entered = await enterRoute(services, { request, reply }, entering)
    const call = await callOf(request, { route, query, opened, signer, exchange })
    const answering = route.handle(entered, principal, call)
    if (route.isSlow === true && (await isLate(answering, gate.after))) {
      const failed = (error: unknown): Buffer =>
        failedLate(services, request, { ...errorAnswer(services, request, error), error })
      return sendLate(reply, answering, { exchange, after: gate.after, onReady, onBroken, failed })
    }
    const answer = await answering
    const isPresigned = opened.signed.expiresSeconds !== null
    return send(isPresigned ? asLink(answer) : answer, route.status)
  }
  return lookingAgain(services, serve)
}

/** The status has left: the error stands in the document, in the audit log, and, if it is unexpected, in the log. */
function failedLate(
  { logger }: Services,
  request: FastifyRequest,
  { bytes, code, error }: ErrorAnswer & { readonly error: unknown },
): Buffer {
  if (error instanceof ClientGoneError) return bytes
  RequestAudit.of(request).failed(code)
  const { id: requestId } = request
  if (code === 'internal_error') logger.error({ requestId, err: error }, 'request failed unexpectedly')
  return bytes
}

/** Which action is meant is looked up once its caller is proved; this is what the two that need no barrier look like. */
function changesObject({ method, originalUrl, headers }: FastifyRequest, { rawKey }: S3Target): boolean {
  if (rawKey === '' || (method !== 'PUT' && method !== 'DELETE')) return false
  return !/\?(?!x-id=\w+$)/.test(originalUrl) && headers['x-amz-copy-source'] === undefined
}

function namesOf({ bucket, rawKey }: S3Target): Readonly<Record<string, string>> {
  if (bucket === '') return {}
  return rawKey === '' ? { bucket } : { bucket, key: decodeObjectKey(rawKey) }
}

const parametersOf = (target: string): Readonly<Record<string, string>> =>
  withoutPresigned(parseQuery(originForm(target)))

function withoutPresigned(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !OF_PRESIGNED.test(name)))
}

interface Proved {
  readonly route: S3Route
  readonly query: Readonly<Record<string, string>>
  readonly opened: OpenedSignature
  readonly signer: RequestSigner
  readonly exchange: Exchange
}

async function callOf(request: FastifyRequest, proved: Proved): Promise<S3Call> {
  const { route, query, opened, signer, exchange } = proved
  const audit = RequestAudit.of(request)
  const { bucket = '', key = '' } = audit.params
  const { body } = route
  const isDocument = body.kind === 'xml' || body.kind === 'json'
  if (isDocument && bucket !== '')
    refuseBeforeBody(signer.principal, route.operation, key === '' ? { bucket } : { bucket, key })
  const bytes = s3Bytes({
    headers: route.claimsObject === true ? withoutChecksums(request.headers) : request.headers,
    payload: opened.payload,
    signing: { ...signer.signing, first: opened.signed.signature },
    source: exchange.passingBytes(),
    length: exchange.length,
  })
  if (body.kind === 'none' && bytes.length !== 0)
    throw new S3Fault('InvalidRequest', `${route.action} takes no body`)
  const xml = body.kind === 'xml' ? await readXmlBody(bytes, body) : null
  const json = body.kind === 'json' ? await readJson(bytes, body) : undefined
  return {
    requestId: request.id,
    method: request.method,
    bucket,
    key,
    query,
    headers: request.headers,
    xml,
    json,
    bytes,
    inTurns: (pieces) => sharedTurns(pieces, exchange),
    signal: exchange.signal,
    note: (note) => audit.note(note),
  }
}

function asLink(answer: Answer): Answer {
  const { headers = {} } = answer
  const own = linkHeaders(headers['content-type'] ?? '', headers['cache-control'] !== undefined)
  return { ...answer, headers: { ...headers, ...own } }
}
