/** Three members over the admin API; the answers of joining nodes are set by the test. */
import type { MembershipPort, NewcomerStatus } from '../../cluster/index.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import { ApiWorld, type ApiAnswer } from './api-world.ts'

const BASE = '/admin/api/v1'

type Asking = (path: string, body?: object, query?: string) => Promise<ApiAnswer>

export async function begin(t: Parameters<typeof ApiWorld.start>[0], changes: Partial<MembershipPort> = {}) {
  const world = await ApiWorld.start(t)
  await foundThree(world.memory, changes)
  const token = await world.memory.adminToken('owner')
  const ask: Asking = (path, body, query = '') => {
    const call = { admin: true, token, path: `${BASE}${path}${query}` }
    return world.call(body === undefined ? { ...call, method: 'GET' } : { ...call, method: 'POST', body })
  }
  const act = (path: string) => world.call({ admin: true, token, method: 'POST', path: `${BASE}${path}` })
  return { world, ask, act }
}

export const blockers = ({ json }: ApiAnswer): unknown =>
  (json['blockers'] as { code: string }[] | undefined)?.map(({ code }) => code)

export const answering = (change: Partial<NewcomerStatus> | string): Partial<MembershipPort> => ({
  newcomer: async (nodeId) =>
    typeof change === 'string'
      ? change
      : { nodeId, incarnation: 'life', isJoining: true, featureLevel: 2, version: '1.0.0', ...change },
})
