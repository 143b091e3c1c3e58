/**
 * The audit log on the wire. [admin: Audit query parameters] [decisions 11]
 *
 * Rule: the names are the contract; what follows from the code of a row is read off the one table of codes.
 */
import Type, { type Static, type TSchemaOptions } from 'typebox'
import { DURATION, DURATION_CHARACTERS_MAX } from '../../operations/audit/duration.ts'
import { outcomeOf, OUTCOMES } from '../../operations/audit/outcome.ts'
import {
  type AuditGap as AuditGapFacts,
  type AuditLogPage,
  queryAuditLog,
} from '../../operations/audit/query-audit-log.ts'
import type { RepeatedRequests } from '../../state-machine/audit/records.ts'
import { documented } from '../documented.ts'
import { STATUS_OF } from '../problem.ts'
import { adminRoute } from '../route.ts'
import { CONTINUATION_TOKEN, orNull, PAGE_END_SCHEMA, pageEnd, Time, timeText } from '../wire.ts'

const Text = Type.String()
const filter = (description: string, maxLength: number, facts: TSchemaOptions = {}) =>
  Type.Optional(Type.String({ maxLength, description, ...documented(facts) }))
const age = (description: string) =>
  filter(description, DURATION_CHARACTERS_MAX, { pattern: DURATION.source })
/** More than any name, id or age. All filters together fit into the bytes that the headers of a request may have. */
const NAME_MAX = 128
const KEY_MAX = 1024

const AuditQuery = Type.Object(
  {
    tenant: filter('Rows of this tenant; a token of one tenant sees its own alone', NAME_MAX),
    since: age('Age of the oldest row wanted, such as 90s, 15m, 24h or 7d; 24h unless given'),
    until: age('Age of the newest row wanted'),
    limit: Type.Optional(Type.Integer({ description: 'Rows of a page: 1 to 1000, 100 unless given' })),
    operation: filter('An operationId', NAME_MAX),
    actor: filter(
      'Id of an access key, of an admin token or of a signed URL; a key finds the use of its URLs too',
      NAME_MAX,
    ),
    session: filter(
      'Name of a session: what its temporary credential did, and the request that made it',
      NAME_MAX,
    ),
    bucket: filter('Name of a bucket', NAME_MAX),
    key: filter('An object key; a batch is found by each of its keys', KEY_MAX),
    keyPrefix: filter('Beginning of object keys', KEY_MAX),
    outcome: filter('What became of the request', NAME_MAX, { enum: [...OUTCOMES] }),
    requestId: filter('Id of one request', NAME_MAX),
    continuationToken: CONTINUATION_TOKEN,
  },
  { additionalProperties: false },
)

const Repeated = Type.Object(
  {
    count: Type.Integer({ description: 'How many requests the row stands for' }),
    firstTime: Time,
    lastTime: Time,
    from: orNull(
      Type.String({
        description:
          'Whose they are: an address, an IPv6 network of 64 bits, or the id of the actor; null: of many callers',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Of a row that stands for several requests with equal operation, code and status: the other members are those of the first one, the bytes are sums',
  },
)

const AuditRecord = Type.Object(
  {
    id: Text,
    time: Time,
    requestId: Text,
    api: Type.Enum(['native', 's3', 'admin', 'internal']),
    operation: Text,
    method: orNull(Text),
    path: orNull(Text),
    tenantId: orNull(Text),
    actor: Type.Object({
      type: Type.Enum(['accessKey', 'adminToken', 'signedUrl', 'system', 'anonymous']),
      id: orNull(Text),
      role: orNull(Text),
      accessKeyId: Type.Optional(
        Type.String({ description: 'Of a signed URL: the access key that made it' }),
      ),
      session: Type.Optional(
        Type.String({ description: 'Of a temporary credential: the name of its session' }),
      ),
    }),
    bucket: orNull(Text),
    key: orNull(Text),
    versionId: orNull(Text),
    outcome: Type.Enum([...OUTCOMES]),
    status: orNull(Type.Integer()),
    code: orNull(Text),
    reason: orNull(Text),
    sourceIp: orNull(Text),
    userAgent: orNull(Text),
    bytesIn: Type.Integer(),
    bytesOut: orNull(Type.Integer()),
    durationMs: Type.Integer(),
    nodeId: Text,
    details: orNull(Type.Object({})),
    repeated: Type.Optional(Repeated),
  },
  { additionalProperties: false },
)

const AuditGap = Type.Object(
  { from: Time, to: Time, rows: Type.Integer({ description: 'That were recorded in between' }) },
  { additionalProperties: false },
)

const AuditRecords = Type.Object(
  {
    records: Type.Array(AuditRecord),
    count: Type.Integer(),
    gaps: Type.Optional(
      Type.Array(AuditGap, {
        description:
          'Parts of the log without a readable copy at present, which may hold rows that match; absent where there are none',
      }),
    ),
    ...PAGE_END_SCHEMA,
  },
  { additionalProperties: false },
)

export const auditRoutes = [
  adminRoute(
    queryAuditLog,
    {
      method: 'GET',
      path: '/audit',
      summary: 'Query the audit log, the newest rows first',
      description:
        'A page holds the newest rows that match, however many others lie between them. One with fewer rows than asked for may be followed by another; one without a row is the last.',
      query: AuditQuery,
      success: {
        status: 200,
        description: 'A page of the audit log',
        content: { type: 'application/json', schema: AuditRecords },
      },
      example: {
        query: { tenant: 'acme', bucket: 'photos', operation: 'deleteObject', since: '24h', limit: '100' },
      },
    },
    async (services, principal, { query, signal }) => {
      const { records, gaps, nextContinuationToken } = await queryAuditLog(services, principal, {
        ...query,
        signal,
      })
      const gapFields = gaps.length === 0 ? {} : { gaps: gaps.map(gapView) }
      const body = { records: records.map(recordView), count: records.length, ...gapFields }
      return { kind: 'json', body: { ...body, ...pageEnd(nextContinuationToken) } }
    },
  ),
]

function gapView({ firstTime, lastTime, rows }: AuditGapFacts): Static<typeof AuditGap> {
  return { from: timeText(firstTime), to: timeText(lastTime), rows }
}

function recordView({ id, row }: AuditLogPage['records'][number]): Static<typeof AuditRecord> {
  const { time, status, code, details, repeated, ...said } = row
  return {
    id,
    time: timeText(time),
    ...said,
    outcome: outcomeOf(row),
    status: status ?? statusOf(code),
    code,
    details: details === null ? null : readable(details),
    ...(repeated === undefined ? {} : { repeated: repeatedView(repeated) }),
  }
}

function repeatedView({ firstTime, lastTime, ...said }: RepeatedRequests): Static<typeof Repeated> {
  return { ...said, firstTime: timeText(firstTime), lastTime: timeText(lastTime) }
}

/** Of what was decided in the log; null: no client received an answer. */
function statusOf(code: string | null): number | null {
  return (STATUS_OF as Readonly<Record<string, number>>)[code ?? ''] ?? null
}

/** Times are kept as records have them. */
function readable(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      TIMES.has(name) && typeof value === 'number' ? timeText(value) : value,
    ]),
  )
}

const TIMES: ReadonlySet<string> = new Set(['expiresAt', 'retainUntil'])
