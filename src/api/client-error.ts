/**
 * Answers what is not even a request: broken framing, too many header bytes, headers that never end.
 *
 * There is no fastify request yet, so the bytes are written manually; the shape is the same problem body. The connection
 * is closed, because nothing after broken framing can be trusted. Its row of the audit log keeps none of its bytes.
 */
import { STATUS_CODES } from 'node:http'
import type { Services } from '../operations/base/services.ts'
import { Refusal } from '../base/refusal.ts'
import type { AuditRow } from '../state-machine/audit/records.ts'
import { networkOf } from '../base/network-address.ts'
import type { ClientAddresses } from './admission/client-address.ts'
import type { Plane } from './plane.ts'
import { expectedProblem, type Problem } from './problem.ts'
import { isWithoutAnswer, type ParserError } from './raw/client-fault.ts'
import type { RawSocket } from './raw/raw-pair.ts'
import { hasRequestUnderWay } from './request-audit.ts'
import { newRequestId } from './request-id.ts'

interface Edge {
  readonly services: Pick<Services, 'audit' | 'cluster'>
  readonly api: Plane['api']
  readonly addresses: ClientAddresses
}

export function answerClientError(error: ParserError, socket: RawSocket, edge: Edge): void {
  if (isWithoutAnswer(error, socket)) {
    socket.destroy()
    return
  }
  const requestId = newRequestId()
  const problem = expectedProblem(refusalFor(error), { requestId, instance: '', challenge: 'bearer' })
  if (problem === null) {
    socket.destroy()
    return
  }
  record(edge, problem, { requestId, socket })
  const { nodeId } = edge.services.cluster
  const body = JSON.stringify(problem.body)
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      `X-Served-By: ${nodeId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

function record(
  { services: { audit, cluster }, api, addresses }: Edge,
  { status, body }: Problem,
  { requestId, socket }: { readonly requestId: string; readonly socket: RawSocket },
): void {
  if (hasRequestUnderWay(socket)) return
  const sourceIp = addresses.ofConnection(socket)
  const nothing = { method: null, path: null, tenantId: null, bucket: null, key: null, versionId: null }
  const row: AuditRow = {
    time: cluster.time.now(),
    requestId,
    api,
    operation: 'unparsed',
    ...nothing,
    actor: { type: 'anonymous', id: null, role: null },
    status,
    code: body.code,
    reason: null,
    sourceIp,
    userAgent: null,
    bytesIn: 0,
    bytesOut: null,
    durationMs: 0,
    nodeId: cluster.nodeId,
    details: null,
  }
  audit.append(row, { caller: 'unproved', kept: 'first', by: networkOf(sourceIp) })
}

function refusalFor(error: ParserError): Refusal {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Refusal('request_timeout', 'The headers of the request took too long', { cause: error })
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new Refusal('invalid_request', 'The headers of the request are larger than 16 KiB', {
      cause: error,
    })
  }
  return new Refusal('invalid_request', 'This is not a well-formed HTTP/1.1 request', { cause: error })
}
