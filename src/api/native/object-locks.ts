/**
 * The routes of an object's retention and legal hold. [native: per-object WORM]
 */
import Type from 'typebox'
import type { FoundObject } from '../../operations/objects/object-checks.ts'
import {
  getObjectLegalHold,
  getObjectRetention,
  type RetainedObject,
} from '../../operations/objects/object-lookups.ts'
import { setObjectLegalHold } from '../../operations/objects/set-object-legal-hold.ts'
import { setObjectRetention } from '../../operations/objects/set-object-retention.ts'
import { CAT } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { type Answer, dataRoute } from '../route.ts'
import { readTime } from '../wire.ts'
import { HoldView, holdView, RetentionView, retentionView } from './lock-view.ts'
import { RETENTION_MODES } from './settings-headers.ts'
import { VERSION_HEADERS, versionHeaders, VersionQuery } from './version-headers.ts'

const RETENTION_PATH = '/buckets/{bucket}/object-retention/{key...}'
const HOLD_PATH = '/buckets/{bucket}/object-legal-hold/{key...}'

const NewRetention = Type.Object(
  {
    mode: Type.Enum([...RETENTION_MODES]),
    retainUntil: Type.String({
      description: 'RFC 3339, with any offset',
      ...documented({ format: 'date-time' }),
    }),
  },
  { additionalProperties: false },
)
const RETENTION = {
  status: 200,
  description: 'The retention',
  content: { type: 'application/json', schema: RetentionView },
} as const
const HOLD = {
  status: 200,
  description: 'The legal hold',
  content: { type: 'application/json', schema: HoldView },
} as const

export const lockRoutes = [
  dataRoute(
    getObjectRetention,
    {
      method: 'GET',
      path: RETENTION_PATH,
      summary: 'Get the retention of an object; 404 when it was never set',
      query: VersionQuery,
      responseHeaders: VERSION_HEADERS,
      success: RETENTION,
      example: { params: CAT },
    },
    async (services, principal, { params, query }) =>
      retained(await getObjectRetention(services, principal, { ...params, versionId: query.versionId })),
  ),

  dataRoute(
    setObjectRetention,
    {
      method: 'PUT',
      path: RETENTION_PATH,
      summary: 'Set or extend the retention of an object',
      description:
        'Until then no request can delete this version. It is never shortened, and COMPLIANCE never becomes GOVERNANCE. It ends at most `security.max_retention` ahead, 100 years by default.',
      query: VersionQuery,
      body: { schema: NewRetention },
      responseHeaders: VERSION_HEADERS,
      success: RETENTION,
      example: {
        params: CAT,
        body: { mode: 'GOVERNANCE', retainUntil: '2099-01-31T12:00:00.000Z' },
      },
    },
    async (services, principal, { params, query, body }) => {
      const retention = { mode: body.mode, until: readTime('retainUntil', body.retainUntil) }
      const wanted = { ...params, versionId: query.versionId, retention }
      return retained({ ...(await setObjectRetention(services, principal, wanted)), retention })
    },
  ),

  dataRoute(
    getObjectLegalHold,
    {
      method: 'GET',
      path: HOLD_PATH,
      summary: 'Get the legal hold of an object; OFF when it was never set',
      query: VersionQuery,
      responseHeaders: VERSION_HEADERS,
      success: HOLD,
      example: { params: CAT },
    },
    async (services, principal, { params, query }) =>
      held(await getObjectLegalHold(services, principal, { ...params, versionId: query.versionId })),
  ),

  dataRoute(
    setObjectLegalHold,
    {
      method: 'PUT',
      path: HOLD_PATH,
      summary: 'Hold an object, or let it go',
      description: 'While it is ON no request can delete this version, regardless of its retention.',
      query: VersionQuery,
      body: { schema: HoldView },
      responseHeaders: VERSION_HEADERS,
      success: HOLD,
      example: { params: CAT, body: { status: 'ON' } },
    },
    async (services, principal, { params, query, body }) => {
      const wanted = { ...params, versionId: query.versionId, legalHold: body.status === 'ON' }
      return held(await setObjectLegalHold(services, principal, wanted))
    },
  ),
]

function retained({ bucket, object, retention }: RetainedObject): Answer {
  return { kind: 'json', headers: versionHeaders(bucket, object), body: retentionView(retention) }
}

function held({ bucket, object }: FoundObject): Answer {
  return { kind: 'json', headers: versionHeaders(bucket, object), body: holdView(object.legalHold) }
}
