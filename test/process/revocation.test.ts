/**
 * Three real processes: a right taken from a key at one node is refused by the next request at any node, without delay.
 *
 * Every round sends a request to all nodes at once, as soon as the changed node has answered; each node allowed it just before.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import type { NodePlan } from '../../src/cli/up/setup.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

/** Each node gives each answer once. */
const ROUNDS = 3
const PATH = '/api/v1/buckets/films/objects'

interface ApiAnswer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

async function send(
  url: string,
  token: string,
  init: { method?: string; body?: object } = {},
): Promise<ApiAnswer> {
  const { method = init.body === undefined ? 'GET' : 'POST', body } = init
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const given = body === undefined ? {} : { body: JSON.stringify(body) }
  let answer: ApiAnswer | undefined
  await until(`${method} ${url} is answered`, async () => {
    const response = await fetch(url, { method, headers, ...given })
    const text = await response.text()
    answer = { status: response.status, json: text === '' ? {} : (JSON.parse(text) as ApiAnswer['json']) }
    return answer.status !== 503
  })
  if (answer === undefined) throw new Error('until ended without an answer')
  return answer
}

t.test('a right removed at one node is refused at every node', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  const { ownerToken } = cluster.setup
  const nodes = cluster.plan
  const tenant = '/admin/api/v1/tenants/demo'

  const admin = async (
    node: NodePlan,
    path: string,
    init: { method?: string; body?: object },
  ): Promise<ApiAnswer['json']> => {
    const { status, json } = await send(`${node.adminUrl}${tenant}${path}`, ownerToken, init)
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }
  const at = (round: number): NodePlan => nodes[round % nodes.length] as NodePlan
  const everywhere = async (token: string): Promise<readonly unknown[]> => {
    const answer = await Promise.all(nodes.map(({ dataUrl }) => send(`${dataUrl}${PATH}`, token)))
    return answer.map(({ status, json }) => (status === 200 ? 200 : json['code']))
  }
  /** Writes that pass no barrier of their own. */
  const written = async (token: string): Promise<readonly unknown[]> => {
    const init = { method: 'PUT', body: { small: true } }
    const answers = await Promise.all(
      nodes.map(({ dataUrl }, n) => send(`${dataUrl}${PATH}/${n}`, token, init)),
    )
    return answers.map(({ status, json }) => (status === 200 ? 200 : json['code']))
  }
  /** A new key, and a token of it that every node has just accepted. */
  const accepted = async (
    node: NodePlan,
  ): Promise<{ readonly accessKeyId: string; readonly token: string }> => {
    const { accessKeyId, secretKey } = await admin(node, '/keys', { body: { scopes: 'read,write' } })
    const { json } = await send(`${node.dataUrl}/api/v1/auth/token`, '', { body: { accessKeyId, secretKey } })
    const token = String(json['token'])
    t.same(await everywhere(token), [200, 200, 200], 'a token of one node is valid at all')
    return { accessKeyId: String(accessKeyId), token }
  }
  const first = await admin(at(0), '/keys', { body: { scopes: 'write' } })
  const { json } = await send(`${at(0).dataUrl}/api/v1/auth/token`, '', {
    body: { accessKeyId: first['accessKeyId'], secretKey: first['secretKey'] },
  })
  const writer = String(json['token'])
  t.equal((await send(`${at(0).dataUrl}/api/v1/buckets`, writer, { body: { name: 'films' } })).status, 201)

  await t.test('after a revocation [tokens.everywhere]', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { accessKeyId, token } = await accepted(at(round + 1))
      t.same(await written(token), [200, 200, 200])
      await admin(at(round), `/keys/${accessKeyId}/revoke`, { body: { reason: 'lost' } })
      const reads = round % 2 === 0
      t.same(await (reads ? everywhere : written)(token), ['key_revoked', 'key_revoked', 'key_revoked'])
      t.same(await (reads ? written : everywhere)(token), ['key_revoked', 'key_revoked', 'key_revoked'])
    }
  })

  await t.test('after a rotation, with or without new scopes [tokens.everywhere]', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { accessKeyId, token } = await accepted(at(round + 1))
      const scopes = round % 2 === 0 ? {} : { scopes: 'write' }
      const { secretKey } = await admin(at(round), `/keys/${accessKeyId}/rotate`, { body: scopes })
      t.same(await everywhere(token), ['token_invalid', 'token_invalid', 'token_invalid'])
      const again = await send(`${at(round + 2).dataUrl}/api/v1/auth/token`, '', {
        body: { accessKeyId, secretKey },
      })
      const expected = round % 2 === 0 ? 200 : 'access_denied'
      t.same(
        await everywhere(String(again.json['token'])),
        [expected, expected, expected],
        'the new token has the new scopes',
      )
    }
  })

  await t.test(
    'a temporary credential made at one node, used at all, when its key is revoked at a third [tokens.temporary.everywhere]',
    async (t) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { accessKeyId, token } = await accepted(at(round + 2))
        const body = { sessionName: 'build-17', scopes: 'read' }
        const made = await send(`${at(round).dataUrl}/api/v1/auth/temporary`, token, { body })
        const temporary = String(made.json['token'])
        t.match(temporary, /^svctmp_/)
        t.same(await everywhere(temporary), [200, 200, 200], 'it is valid at all')
        await admin(at(round + 1), `/keys/${accessKeyId}/revoke`, { body: { reason: 'lost' } })
        t.same(await everywhere(temporary), ['key_revoked', 'key_revoked', 'key_revoked'])
      }
    },
  )

  await t.test('a write after a policy was set and removed [policies.everywhere]', async (t) => {
    const { token } = await accepted(at(0))
    const path = '/buckets/films/policy'
    const Resource = 'arn:aws:s3:::films/*'
    const policy = { Statement: [{ Effect: 'Deny', Principal: '*', Action: 's3:PutObject', Resource }] }
    for (let round = 0; round < ROUNDS; round += 1) {
      t.same(await written(token), [200, 200, 200])
      await admin(at(round), path, { method: 'PUT', body: policy })
      t.same(await written(token), ['access_denied', 'access_denied', 'access_denied'])
      await admin(at(round + 2), path, { method: 'DELETE' })
    }
  })

  await t.test('after a policy was set, narrowed and removed [policies.everywhere]', async (t) => {
    const { accessKeyId, token } = await accepted(at(0))
    const path = '/buckets/films/policy'
    const policy = (AWS: string, Action: string) => ({
      Statement: [{ Effect: 'Deny', Principal: { AWS }, Action, Resource: 'arn:aws:s3:::films' }],
    })
    for (let round = 0; round < ROUNDS; round += 1) {
      await admin(at(round), path, { method: 'PUT', body: policy(accessKeyId, 's3:GetBucketVersioning') })
      t.same(await everywhere(token), [200, 200, 200], 'it denies something else')
      await admin(at(round + 1), path, { method: 'PUT', body: policy('*', 's3:List*') })
      t.same(await everywhere(token), ['access_denied', 'access_denied', 'access_denied'])
      await admin(at(round + 2), path, { method: 'DELETE' })
      t.same(await everywhere(token), [200, 200, 200], 'a right granted again is valid at once')
    }
  })
})
