/**
 * The preflight of a presigned URL, the one that is answered: its signature is checked with the method that the page asks about.
 *
 * Rule: a URL that signs more than the host proves nothing here, because a preflight carries none of the headers of the request; no client learns from an
 * answer whether a bucket exists that it may not know of.
 */
import assert from 'node:assert/strict'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../../../operations/base/services.ts'
import { preflightPresigned } from '../../../operations/buckets/preflight-presigned.ts'
import { clientAddress } from '../../admission/client-address.ts'
import { preflightHeaders } from '../../cors-headers.ts'
import { Exchange } from '../../exchange.ts'
import { preflightQuestion } from '../../preflight-question.ts'
import { admitCaller, connectionOf, type Gate } from '../../proved-request.ts'
import { RequestAudit } from '../../request-audit.ts'
import type { Answer } from '../../route.ts'
import { findS3Route, type S3Table } from './s3-dispatch.ts'
import { s3Headers } from './s3-entry.ts'
import { isPresigned, openSignature } from './s3-proof.ts'
import type { S3Target } from './s3-target.ts'

const AUDITED = { operation: preflightPresigned, path: '', success: { status: 200 } }

export interface AskedPreflight {
  readonly table: S3Table
  readonly target: S3Target
  readonly gate: Gate
  /** Of the query, without those of the signature. Throws Refusal. */
  readonly queryOf: (target: string) => Readonly<Record<string, string>>
  readonly names: () => Readonly<Record<string, string>>
}

export function isPreflight({ headers, method, originalUrl }: FastifyRequest): boolean {
  const asked = headers['access-control-request-method']
  return method === 'OPTIONS' && asked !== undefined && isPresigned(originalUrl)
}

/** Throws S3Fault, SignatureFault, Refusal, Condition. */
export async function answerPreflight(
  services: Services,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { table, target, gate, queryOf, names }: AskedPreflight,
): Promise<Answer> {
  const { headers, originalUrl, raw } = request
  const question = preflightQuestion(headers)
  const { method } = question
  const audit = RequestAudit.of(request)
  audit.routed(AUDITED, names)
  const { rawHeaders } = raw
  const opened = openSignature(services, { method, headers, rawHeaders }, originalUrl)
  await services.cluster.readBarrier()
  const { principal } = opened.proof(connectionOf(request))
  audit.principal = principal
  gate.unproved.proved(clientAddress(request))
  const exchange = Exchange.of(raw, reply.raw)
  await admitCaller(services, { isUpload: false }, { principal, exchange })
  const { operation } = findS3Route(table, { ...target, method, query: queryOf(originalUrl), headers: {} })
  assert('s3Action' in operation, 'a route of S3 has an operation of the data plane')
  const { bucket } = target
  const { key = '' } = names()
  const grant = await preflightPresigned(services, principal, { bucket, key, rights: operation, ...question })
  reply.headers(s3Headers(services, request))
  return { kind: 'empty', headers: preflightHeaders(grant, question.headers) }
}
