/**
 * How far ahead a retention may end: the bound of the node on every path that sets one, and what a policy says about its days.
 */
import t from 'tap'
import { idOf } from './bucket-client.ts'
import { denial, FILMS, PolicyClient } from './policy-client.ts'
import { MIB } from './multipart-client.ts'

const DAY_MS = 86_400_000
const locked = { objectLockEnabled: true }

async function start(t: Parameters<typeof PolicyClient.start>[0], maxDays = 30) {
  const policies = await PolicyClient.start(t, locked, { security: { maxRetentionMs: maxDays * DAY_MS } })
  const { films } = policies
  // The clock of rights stands still here, so whole days are whole days for a policy.
  const inDays = (days: number): string => new Date(films.world.memory.now + days * DAY_MS).toISOString()
  const headers = (days: number) => ({
    'x-service-retention-mode': 'COMPLIANCE',
    'x-service-retain-until': inDays(days),
  })
  const setters = {
    'the route of the retention': (days: number) =>
      films.on('object-retention', 'k', {
        method: 'PUT',
        body: { mode: 'COMPLIANCE', retainUntil: inDays(days) },
      }),
    'headers of an upload': (days: number) => films.put('new', 'hello', headers(days)),
    'headers of a larger upload': (days: number) => films.put('large', Buffer.alloc(MIB), headers(days)),
    'headers of a multipart upload': (days: number) =>
      films.on('multipart', 'parts', { method: 'POST', headers: headers(days) }),
    'the body of a multipart upload': (days: number) =>
      films.on('multipart', 'parts', {
        method: 'POST',
        body: { retention: { mode: 'COMPLIANCE', retainUntil: inDays(days) } },
      }),
  }
  return { policies, films, inDays, headers, setters }
}

t.test(
  'no path locks an object beyond security.max_retention [retention.bound] [objects.put.locks]',
  async (t) => {
    const { films, setters } = await start(t)
    const id = idOf(await films.put('k'))
    for (const [path, set] of Object.entries(setters)) {
      for (const days of [32, 40_000, 2_900_000])
        t.match(
          await set(days),
          {
            status: 400,
            code: 'invalid_request',
            json: { message: /give a date up to \d{4}-.*at most 30 days ahead \(security\.max_retention\)/ },
          },
          `${path}, ${days} days`,
        )
    }
    t.equal((await films.on('object-retention', 'k')).status, 404, 'nothing was locked')
    t.equal((await films.remove(`k?versionId=${id}`)).status, 204)
    for (const key of ['new', 'large']) t.equal((await films.get(key)).status, 404, 'nor stored')
    await films.put('k')
    for (const [path, set] of Object.entries(setters)) t.ok((await set(30)).status < 300, path)
  },
)

t.test('a signed upload and a copy bring no retention to the target', async (t) => {
  const { films, headers } = await start(t)
  const body = { method: 'PUT', bucket: 'films', key: 'signed' }
  const { url } = (await films.ask({ method: 'POST', path: '/api/v1/sign-url', body })).json
  const path = String(url).replace(/^https?:\/\/[^/]+/, '')
  const put = await films.world.call({ method: 'PUT', path, body: 'x', headers: headers(2_900_000) })
  if (put.status < 300) t.same(put.json['retention'], null)
  else t.match(put, { status: 400, code: 'invalid_request' })
  await films.put('source', 'x', headers(10))
  t.match(await films.copy('target', { sourceKey: 'source' }), { status: 200, json: { retention: null } })
})

t.test(
  'a policy bounds the days of a retention from both sides, on every path [retention.condition]',
  async (t) => {
    const { policies, films, setters } = await start(t, 36_500)
    await films.put('k')
    const on = (operator: string, days: number | string, Action: unknown) =>
      denial({
        Action,
        Resource: `${FILMS}/*`,
        Condition: { [operator]: { 's3:object-lock-remaining-retention-days': days } },
      })
    for (const Action of ['s3:PutObjectRetention', 's3:*']) {
      await policies.set(on('NumericGreaterThan', '30', Action), on('NumericLessThan', 10, Action))
      for (const [path, set] of Object.entries(setters)) {
        for (const days of [31, 400, 9])
          t.match(await set(days), { status: 403, code: 'access_denied' }, `${path}, ${days}`)
      }
      t.equal((await films.put('plain')).status, 200, 'an upload without retention is not concerned')
    }
    for (const [path, set] of Object.entries(setters)) t.ok((await set(30)).status < 300, path)
    await policies.set(on('NumericGreaterThan', 30, 's3:PutObject'))
    t.match(await setters['headers of an upload'](31), { status: 403 }, 's3:PutObject knows the days as well')
  },
)

t.test(
  'a condition on days is refused where no action sets a retention, or the value is no number',
  async (t) => {
    const { policies } = await start(t)
    const put = (Action: string, value: unknown, operator = 'NumericLessThan') =>
      policies.put({
        Version: '2012-10-17',
        Statement: [
          denial({
            Action,
            Resource: `${FILMS}/*`,
            Condition: { [operator]: { 's3:object-lock-remaining-retention-days': value } },
          }),
        ],
      })
    t.match(await put('s3:GetObject', '30'), {
      status: 400,
      json: { message: /asked for by none of the actions/ },
    })
    for (const value of ['thirty', '', '1e3', null, {}])
      t.match(
        await put('s3:PutObjectRetention', value),
        { status: 400, code: 'invalid_request' },
        JSON.stringify(value),
      )
    t.match(await put('s3:PutObjectRetention', '30', 'StringEquals'), {
      status: 400,
      json: { message: /it takes a number such as 30/ },
    })
    t.equal((await put('s3:PutObjectRetention', '30.5')).status, 200)
  },
)
