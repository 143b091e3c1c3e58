/**
 * An error of the S3 API as it goes out: S3's document, S3's headers, and what the audit log calls it.
 */
import type { FastifyRequest } from 'fastify'
import type { Services } from '../../../operations/base/services.ts'
import type { ErrorAnswer } from '../../plane.ts'
import { RequestAudit } from '../../request-audit.ts'
import { originForm, pathOf } from '../../request-target.ts'
import { errorDocument, type S3ErrorContext, s3ErrorOf } from '../base/s3-errors.ts'
import { s3Headers, s3RouteOf } from './s3-entry.ts'

export function s3ErrorAnswer(services: Services, request: FastifyRequest, error: unknown): ErrorAnswer {
  const context = contextOf(services, request)
  const found = s3ErrorOf(error, context)
  const { problem: code, status } = found
  const headers = { ...found.headers, ...s3Headers(services, request) }
  return { code, status, headers, contentType: 'application/xml', bytes: errorDocument(found, context) }
}

function contextOf({ cluster }: Services, request: FastifyRequest): S3ErrorContext {
  const audit = RequestAudit.of(request)
  const { versionId, uploadId } = (audit.query ?? {}) as Readonly<Record<string, string>>
  const codes = s3RouteOf(request)?.codes
  return {
    requestId: request.id,
    hostId: cluster.nodeId,
    resource: pathOf(originForm(request.originalUrl)),
    ...audit.knownParams(),
    ...(versionId === undefined ? {} : { versionId }),
    ...(uploadId === undefined ? {} : { uploadId }),
    ...(codes === undefined ? {} : { codes }),
  }
}
