/**
 * The demo tenant and its key, made once through the admin API like any operator would.
 */
import { type LocalOptions, UsageError } from './local-options.ts'
import { type NodePlan, saveSetup, type Setup } from './local-setup.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'

const ATTEMPTS_MAX = 100
const RETRY_MS = 100
const DEMO_SCOPES = 'read,write,delete,admin'

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

async function post(url: string, token: string, body: object): Promise<Answer> {
  const answer = await request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> }
}

/** 401: the pending owner token is granted a moment after the first leader is there. 503: no leader right now. */
async function postPatiently(url: string, token: string, body: object): Promise<Answer> {
  let answer = await post(url, token, body)
  for (
    let attempt = 1;
    attempt < ATTEMPTS_MAX && (answer.status === 401 || answer.status === 503);
    attempt++
  ) {
    await wait(RETRY_MS)
    answer = await post(url, token, body)
  }
  return answer
}

export async function demoCredentials(
  options: LocalOptions,
  setup: Setup,
  plan: readonly NodePlan[],
): Promise<Setup> {
  const admin = plan[0]?.adminUrl
  if (setup.accessKeyId !== null || admin === undefined) return setup
  const tenants = `${admin}/admin/api/v1/tenants`
  const tenant = await postPatiently(tenants, setup.ownerToken, { id: setup.tenantId, name: 'Demo' })
  // 409: made by an earlier run that was interrupted before it had the key.
  if (tenant.status !== 201 && tenant.status !== 409)
    throw new UsageError(`Cannot create the demo tenant: ${JSON.stringify(tenant.body)}`)
  const key = await postPatiently(`${tenants}/${setup.tenantId}/keys`, setup.ownerToken, {
    scopes: DEMO_SCOPES,
    name: 'demo',
  })
  const { accessKeyId, secretKey } = key.body
  if (key.status !== 201 || typeof accessKeyId !== 'string' || typeof secretKey !== 'string') {
    throw new UsageError(`Cannot create the demo key: ${JSON.stringify(key.body)}`)
  }
  const complete = { ...setup, accessKeyId, secretKey }
  saveSetup(options, complete)
  return complete
}
