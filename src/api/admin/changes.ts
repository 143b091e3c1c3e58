/**
 * The route by which a page learns that what it shows is no longer so. No rules here.
 */
import Type from 'typebox'
import { getChanges, TOPICS } from '../../operations/changes/get-changes.ts'
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
      summary: 'Which of members and long operations have changed since a caller looked; waits for a change',
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
]
