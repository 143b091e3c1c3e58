/**
 * The routes by which a page learns that what it shows is no longer so: by asking, or by a stream of events. No rules here.
 */
import Type from 'typebox'
import { getChanges } from '../../operations/changes/get-changes.ts'
import { type ChangeEvents, getEvents } from '../../operations/changes/get-events.ts'
import { TOPICS } from '../../operations/changes/watch.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { WAIT_PARAMETER, waitOf } from './wait.ts'

const ChangesQuery = Type.Object(
  {
    since: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'The cursor of the answer before; absent: nothing was seen yet',
      }),
    ),
    wait: WAIT_PARAMETER('Answer when something has changed, at the latest after this time: 1ms to 60s'),
  },
  { additionalProperties: false },
)

const EventsQuery = Type.Object(
  {
    since: ChangesQuery.properties.since,
    wait: WAIT_PARAMETER('The stream ends after this time: 1ms to 60s; absent: after 10 minutes'),
  },
  { additionalProperties: false },
)

const EVENT_STREAM = 'text/event-stream'
/** How long a browser waits before it connects again. */
const RETRY_MS = 3_000
/** The second is for nginx, which otherwise passes nothing on before its buffer is full. */
const NOT_KEPT = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

const ChangesView = Type.Object({
  cursor: Type.String({ description: 'For the next call, at any node' }),
  changed: Type.Array(Type.Enum([...TOPICS]), { description: 'What to load again; empty: nothing' }),
})

export const changeRoutes: readonly RouteDefinition[] = [
  adminRoute(
    getChanges,
    {
      method: 'GET',
      path: '/changes',
      summary:
        'Which of members, long operations and backup plans have changed since a caller looked; waits for a change',
      query: ChangesQuery,
      success: {
        status: 200,
        description: 'What has changed',
        content: { type: 'application/json', schema: ChangesView },
      },
      example: { query: { wait: '1ms' } },
    },
    async (services, principal, { query: { since = null, wait }, signal }) => {
      const waitMs = wait === undefined ? 0 : waitOf(wait)
      return { kind: 'json', body: { ...(await getChanges(services, principal, { since, waitMs, signal })) } }
    },
  ),

  adminRoute(
    getEvents,
    {
      method: 'GET',
      path: '/events',
      summary: 'What has changed since a caller looked, as an event whenever something does',
      description:
        'Server-sent events as WHATWG HTML has them: id is the cursor, event is change, data is {"changed":[...]} with the topics to load again. A comment follows each 15 s of quiet. The stream ends after 10 minutes, with its node, and within seconds of its token; a caller connects again, to any node, with the last id. A client that does not read misses no change: its next event names all that differs by then.',
      query: EventsQuery,
      requestHeaders: [
        {
          name: 'Last-Event-ID',
          description: 'The id of the last event; it counts before the parameter since',
        },
      ],
      responseHeaders: [{ name: 'Cache-Control', description: 'no-store' }],
      success: {
        status: 200,
        description: 'Events as they come',
        content: { type: EVENT_STREAM, schema: Type.String() },
      },
      example: { query: { wait: '1ms' } },
    },
    async (services, principal, { query: { since, wait }, headers, signal }) => {
      const lastId = headers['last-event-id']
      const seen = typeof lastId === 'string' ? lastId : since
      const durationMs = wait === undefined ? null : waitOf(wait)
      const events = await getEvents(services, principal, { since: seen ?? null, durationMs, signal })
      return {
        kind: 'stream',
        contentType: EVENT_STREAM,
        headers: NOT_KEPT,
        pieces: eventTexts(events),
      }
    },
  ),
]

/** Parts of an event stream. [WHATWG HTML 9.2.5] */
async function* eventTexts(events: ChangeEvents): AsyncGenerator<Uint8Array> {
  let start = `retry: ${RETRY_MS}\n`
  for await (const event of events) {
    const text =
      event === null
        ? ':\n\n'
        : `id: ${event.cursor}\nevent: change\ndata: ${JSON.stringify({ changed: event.changed })}\n\n`
    yield Buffer.from(start + text)
    start = ''
  }
}
