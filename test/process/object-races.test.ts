/**
 * Three real processes, clients at all of them at once: each rule that is decided at commit is decided once.
 *
 * Every round is a separate race; for any winner, the answers must fit one order, and all nodes must show the result of that order.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { type ApiAnswer, ObjectClient, type ObjectAsk } from '../helpers/object-client.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const ROUNDS = 6
const FAR = '2099-01-01T00:00:00.000Z'

t.test('races', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  const nodes = cluster.plan.map(({ nodeId }) => nodeId)
  const client = new ObjectClient(cluster, () => 'n1')
  const create = (body: object) => client.ask({ method: 'POST', path: '', body })
  for (const body of [
    { name: 'plain' },
    { name: 'kept', versioning: 'Enabled' },
    { name: 'locked', objectLockEnabled: true },
  ])
    t.equal((await create(body)).status, 201)

  /** All at once, round-robin over the nodes. */
  const race = (asks: readonly ObjectAsk[]): Promise<readonly ApiAnswer[]> =>
    Promise.all(asks.map((ask, n) => client.ask(ask, nodes[n % nodes.length])))
  const put = (path: string, text: string, headers: Readonly<Record<string, string>> = {}): ObjectAsk => ({
    method: 'PUT',
    path,
    body: Buffer.from(text),
    headers,
  })
  const codes = (received: readonly ApiAnswer[]) => received.map(({ code, status }) => code ?? String(status))
  const everywhere = (path: string): Promise<readonly ApiAnswer[]> =>
    Promise.all(nodes.map((node) => client.ask({ method: 'GET', path }, node)))
  const versionsOf = async (bucket: string, key: string) => {
    const { json } = await client.ask({ method: 'GET', path: `/${bucket}/versions?prefix=${key}` })
    const versions = json['versions'] as readonly { readonly key: string; readonly versionId: string }[]
    return versions.filter((version) => version.key === key)
  }

  await t.test('of twelve that create one key, one succeeds', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const path = `/kept/objects/only-${round}`
      const asks = Array.from({ length: 12 }, (_, n) => put(path, `client ${n}`, { 'if-none-match': '*' }))
      const outcomes = codes(await race(asks))
      t.same(outcomes.toSorted(), ['200', ...Array.from({ length: 11 }, () => 'precondition_failed')])
      for (const { bytes } of await everywhere(path))
        t.equal(bytes.toString(), `client ${outcomes.indexOf('200')}`)
      t.equal((await versionsOf('kept', `only-${round}`)).length, 1)
    }
  })

  await t.test('each conditional change follows exactly the version that it saw', async (t) => {
    const path = '/kept/objects/chain'
    const started = await client.ask(put(path, 'started'))
    const links = new Map<string, string>()
    const follow = async (nodeId: string, name: string): Promise<void> => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const seen = String((await client.ask({ method: 'GET', path }, nodeId)).headers['etag'])
        const received = await client.ask(put(path, `${name} ${n}`, { 'if-match': seen }), nodeId)
        if (received.code !== null) t.equal(received.code, 'precondition_failed')
        else {
          t.notOk(links.has(seen), 'no other change has replaced the version that this one saw')
          links.set(seen, String(received.headers['etag']))
        }
      }
    }
    await Promise.all([...nodes, ...nodes].map((node, n) => follow(node, `client ${n}`)))
    let last = String(started.headers['etag'])
    let length = 0
    for (let next = links.get(last); next !== undefined; next = links.get(last)) {
      last = next
      length += 1
    }
    t.ok(length > 0 && length === links.size, `${length} changes are one chain of ${links.size}`)
    for (const { headers } of await everywhere(path)) t.equal(headers['etag'], last)
    t.equal((await versionsOf('kept', 'chain')).length, 1 + length)
  })

  await t.test('one idempotency key makes one version, and one answer', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const sum = createHash('sha256').update('once').digest('base64')
      const headers = { 'idempotency-key': `round-${round}`, 'x-service-checksum-sha256': sum }
      const again = put(`/kept/objects/once-${round}`, 'once', headers)
      const received = await race(Array.from({ length: 6 }, () => again))
      const made = received.filter(({ code }) => code === null)
      // Of two at one node the second may get idempotency_in_progress.
      t.same(
        [...new Set(codes(received))].filter((code) => code !== 'idempotency_in_progress'),
        ['200'],
      )
      t.ok(made.length >= nodes.length)
      t.equal(made.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
      const shown = await versionsOf('kept', `once-${round}`)
      t.equal(shown.length, 1)
      for (const { json } of made) t.same(json, made[0]?.json)
      t.equal(made[0]?.json['versionId'], shown[0]?.versionId)
    }
  })

  await t.test('one idempotency key for different bytes stores one of them', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const asks = nodes.map((node) => {
        const sum = createHash('sha256').update(node).digest('base64')
        const headers = { 'idempotency-key': `other-${round}`, 'x-service-checksum-sha256': sum }
        return put(`/kept/objects/other-${round}`, node, headers)
      })
      const outcomes = codes(await race(asks))
      t.same(outcomes.toSorted(), ['200', 'idempotency_conflict', 'idempotency_conflict'])
      for (const { bytes } of await everywhere(`/kept/objects/other-${round}`))
        t.equal(bytes.toString(), nodes[outcomes.indexOf('200')])
      t.equal((await versionsOf('kept', `other-${round}`)).length, 1)
    }
  })

  await t.test('a bucket is created once, and never deleted from under an object', async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `brief-${round}`
      const made = await race(Array.from({ length: 6 }, () => ({ method: 'POST', path: '', body: { name } })))
      t.same(codes(made).toSorted(), ['201', ...Array.from({ length: 5 }, () => 'bucket_already_exists')])
      const remove = { method: 'DELETE', path: `/${name}` } as const
      const puts = ['x', 'y', 'z', 'u'].map((key) => put(`/${name}/objects/${key}`, key))
      // Another node goes first in each round.
      const asks = [remove, ...puts, remove]
      const received = await race([...asks.slice(round), ...asks.slice(0, round)])
      const inOrder = [...received.slice(asks.length - round), ...received.slice(0, asks.length - round)]
      const [first = '', ...rest] = codes(inOrder)
      const last = rest.pop() ?? ''
      const isGone = [first, last].includes('204')
      t.ok(
        rest.every((code) => code === (isGone ? 'not_found' : '200')),
        `${first} ${rest.join(' ')} ${last}`,
      )
      const left = isGone ? ['204', 'not_found'] : ['bucket_not_empty']
      t.same([...new Set([first, last])].sort(), left)
      for (const { code, json } of await everywhere(`/${name}/objects`)) {
        t.equal(code, isGone ? 'not_found' : null)
        if (!isGone) t.equal(json['keyCount'], puts.length)
      }
    }
  })

  await t.test('an upload is completed once or aborted, never both', async (t) => {
    const outcomes = new Set<boolean>()
    for (let round = 0; round < 2 * ROUNDS; round += 1) {
      const key = `parts-${round}`
      const started = await client.ask({ method: 'POST', path: `/kept/multipart/${key}` })
      const upload = `/kept/multipart/${String(started.json['uploadId'])}`
      const etags: string[] = []
      for (const n of [1, 2])
        etags.push(String((await client.ask(put(`${upload}/parts/${n}/${key}`, `part ${n}`))).json['etag']))
      const complete = (partNumber: number): ObjectAsk => ({
        method: 'POST',
        path: `${upload}/complete/${key}`,
        body: { parts: [{ partNumber, etag: etags[partNumber - 1] }] },
      })
      const abort = { method: 'DELETE', path: `${upload}/${key}` } as const
      const asks = [complete(1), complete(2), complete(1), abort]
      const turned = [...asks.slice(round % 4), ...asks.slice(0, round % 4)]
      const received = await race(turned)
      t.equal(received[turned.indexOf(abort)]?.status, 204)
      const completions = received.filter((_, n) => turned[n] !== abort)
      const done = completions.filter(({ code }) => code === null)
      const won = asks.flatMap((ask, n) =>
        ask !== abort && received[turned.indexOf(ask)]?.code === null ? [`part ${n === 1 ? 2 : 1}`] : [],
      )
      t.ok(new Set(won).size < 2, 'every success has named the same parts')
      t.ok(
        completions.every(({ code }) => code === null || code === 'not_found'),
        codes(received).join(' '),
      )
      outcomes.add(done.length > 0)
      const shown = await versionsOf('kept', key)
      t.equal(shown.length, done.length > 0 ? 1 : 0)
      for (const { json } of done) t.same(json, done[0]?.json)
      for (const { code, bytes } of await everywhere(`/kept/objects/${key}`)) {
        t.equal(code, done.length > 0 ? null : 'not_found')
        if (code === null) t.equal(bytes.toString(), won[0])
      }
      for (const { code } of await everywhere(`${upload}/parts/${key}`)) t.equal(code, 'not_found')
    }
    t.comment(`outcomes: ${[...outcomes].join(', ')}`)
  })

  await t.test('a version retained in time is never removed', async (t) => {
    const outcomes = new Set<boolean>()
    for (let round = 0; round < 2 * ROUNDS; round += 1) {
      const key = `kept-${round}`
      const { json } = await client.ask(put(`/locked/objects/${key}`, key))
      const versionId = String(json['versionId'])
      const remove = { method: 'DELETE', path: `/locked/objects/${key}?versionId=${versionId}` } as const
      const path = `/locked/object-retention/${key}?versionId=${versionId}`
      const retain = { method: 'PUT', path, body: { mode: 'GOVERNANCE', retainUntil: FAR } } as const
      const asks = round % 2 === 0 ? [retain, remove, remove] : [remove, retain, remove]
      const results = codes(await race(asks))
      const isKept = results[asks.indexOf(retain)] === '200'
      outcomes.add(isKept)
      const expected = asks.map((ask) =>
        ask === retain ? (isKept ? '200' : 'not_found') : isKept ? 'object_locked' : '204',
      )
      t.same(results, expected)
      for (const { code, bytes } of await everywhere(`/locked/objects/${key}?versionId=${versionId}`)) {
        t.equal(code, isKept ? null : 'not_found')
        if (isKept) t.equal(bytes.toString(), key)
      }
    }
    t.comment(`kept: ${[...outcomes].join(', ')}`)
  })

  await t.test('of many dates the last one stays', async (t) => {
    const made = await client.ask(put('/locked/objects/dated', 'dated'))
    const path = `/locked/object-retention/dated?versionId=${String(made.json['versionId'])}`
    const dates = ['2091', '2099', '2094', '2097', '2092', '2095', '2093', '2098', '2096']
    const asks = dates.map((year) => ({
      method: 'PUT' as const,
      path,
      body: { mode: 'GOVERNANCE', retainUntil: `${year}-01-01T00:00:00.000Z` },
    }))
    const outcomes = codes(await race(asks))
    t.ok(outcomes.every((code) => code === '200' || code === 'object_locked'))
    t.equal(outcomes[1], '200', 'the last date is accepted')
    for (const { json } of await everywhere(path)) t.same(json, { mode: 'GOVERNANCE', retainUntil: FAR })
  })

  interface Held {
    readonly usage: { readonly bytes: number; readonly objects: number }
  }
  const askQuota = async (nodeId: string, limits?: object): Promise<Held> => {
    const { ownerToken, tenantId } = cluster.setup
    const answer = await fetch(`${cluster.node(nodeId).adminUrl}/admin/api/v1/tenants/${tenantId}/quota`, {
      headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' },
      ...(limits === undefined ? {} : { method: 'PUT', body: JSON.stringify(limits) }),
    })
    t.equal(answer.status, 200)
    return (await answer.json()) as Held
  }
  const BODY = 'x'.repeat(100)

  await t.test('a quota is met exactly, with any writers at any nodes [admin.quota.exact]', async (t) => {
    const writers = 15
    for (let round = 0; round < ROUNDS; round += 1) {
      const { usage } = await askQuota('n1')
      const fits = 3 + round
      // After the last body that fits, the space left is one byte too small for another one, or zero.
      const bytes = usage.bytes + fits * BODY.length + (round === 0 ? 0 : BODY.length - 1)
      const limits = round % 2 === 0 ? { maxBytes: bytes } : { maxObjects: usage.objects + fits }
      await askQuota(nodes[round % nodes.length] ?? '', limits)
      const asks = Array.from({ length: writers }, (_, n) => put(`/kept/objects/quota-${round}-${n}`, BODY))
      const outcomes = codes(await race(asks))
      const expected = asks.map((_, n) => (n < fits ? '200' : 'quota_exceeded'))
      t.same(outcomes.toSorted(), expected)
      const after = { bytes: usage.bytes + fits * BODY.length, objects: usage.objects + fits }
      for (const node of nodes) t.match(await askQuota(node), { usage: after })
    }
  })

  await t.test('a quota lowered below the usage refuses every later write', async (t) => {
    await askQuota('n1', { maxBytes: null })
    let written = 0
    const write = async (node: string, name: string): Promise<void> => {
      for (let n = 0; ; n += 1) {
        const { code } = await client.ask(put(`/kept/objects/${name}-${n}`, BODY), node)
        if (code !== null) return void t.equal(code, 'quota_exceeded')
        written += 1
      }
    }
    const writing = Promise.all([...nodes, ...nodes].map((node, n) => write(node, `lowered-${n}`)))
    await until('they write', () => written > 3 * ROUNDS)
    const { usage } = await askQuota('n2', { maxBytes: 0 })
    await writing
    for (const node of nodes) t.match(await askQuota(node), { usage })
    await askQuota('n1', { maxBytes: null })
  })
})
