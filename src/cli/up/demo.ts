/**
 * The demo tenant and its key, created once through the admin API, as an operator would do it.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type AdminClient, adminClient, ApiError } from '../../client/clients.ts'
import { type LocalOptions, notStarted } from './local-options.ts'
import { type NodePlan, saveSetup, type Setup } from './setup.ts'

/** A minute: on a busy machine the first proposals of a new cluster take seconds. */
const ATTEMPTS_MAX = 600
const RETRY_MS = 100
const DEMO_SCOPES = 'read,write,delete,admin'

/** 401: the pending owner token is granted shortly after the first election. 503: no leader at the moment. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      const isEarly = error instanceof ApiError && (error.status === 401 || error.status === 503)
      if (!isEarly || attempt === ATTEMPTS_MAX) throw error
      await wait(RETRY_MS)
    }
  }
}

/** Returns the setup with the key, and saves it. Throws CommandError when the cluster does not grant it. */
export async function demoCredentials(
  options: LocalOptions,
  setup: Setup,
  plan: readonly NodePlan[],
): Promise<Setup> {
  const admin = plan[0]?.adminUrl
  if (setup.accessKeyId !== null || admin === undefined) return setup
  const client = adminClient({ endpoints: [admin], token: setup.ownerToken })
  try {
    const { accessKeyId, secretKey } = await demoKey(client, setup.tenantId)
    const complete = { ...setup, accessKeyId, secretKey }
    saveSetup(options, complete)
    return complete
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    throw notStarted(
      `Cannot create the demo tenant and its key: ${cause.message}`,
      'Start it again: what is there already is kept.',
    )
  } finally {
    await client.close()
  }
}

async function demoKey(client: AdminClient, id: string) {
  await patiently(() => client.call('createTenant', { body: { id, name: 'Demo' } })).catch(
    (error: unknown) => {
      // Created by an earlier run that was interrupted before it had the key.
      if (!(error instanceof ApiError) || error.code !== 'already_exists') throw error
    },
  )
  const body = { scopes: DEMO_SCOPES, name: 'demo' }
  return (await patiently(() => client.call('createTenantKey', { params: { id }, body }))).answer
}
