/**
 * The check of the chain of the audit log through the admin API, a part at a time.
 */
import t from 'tap'
import { AuditSegments } from '../../src/operations/audit-segments/audit-segments.ts'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { AUDIT_OWNER } from '../../src/state-machine/base/record-ids.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { auditSegmentBefore } from '../../src/store/reads/audit-rows.ts'
import { auditRow } from '../helpers/audit-disk.ts'
import { auditHead } from '../../src/state-machine/audit/append.ts'
import { AuditedWorld, sealingIn, ship } from './audited-world.ts'

const PATH = '/admin/api/v1/audit/verify'

interface Question {
  readonly limit?: number
  readonly continuationToken?: string
}

interface Part {
  readonly segments: number
  readonly links: number
  readonly from: number
  readonly to: number
  readonly end: number
  readonly head: string
  readonly isWhole: boolean
  readonly firstFault: {
    readonly kind: string
    readonly segment: number | null
    readonly text: string
  } | null
  readonly isTruncated: boolean
  readonly nextContinuationToken?: string
}

t.test('verifyAuditChain', async (t) => {
  const { world, owner } = await AuditedWorld.start(t)
  const { memory } = world
  const ask = (body: Question, token = owner) =>
    world.call({ method: 'POST', admin: true, token, path: PATH, body })
  const parts = async (limit: number): Promise<readonly Part[]> => {
    const found: Part[] = []
    for (let rest = {}; ; ) {
      const part = (await ask({ limit, ...rest })).json as Partial<Part> as Part
      found.push(part)
      if (part.nextContinuationToken === undefined) return found
      rest = { continuationToken: part.nextContinuationToken }
    }
  }
  const sealing = sealingIn(memory)
  for (let n = 0; n < 3; n++) {
    await ship(world, [auditRow(`row-${n}`)], n)
    await sealing.round()
  }
  await ship(world, [auditRow('unsealed')], 3)

  await t.test('checks segments and links in parts that follow each other to the end', async (t) => {
    const { next, hash } = auditHead(memory.reader)
    const found = await parts(1)
    t.equal(found.length, 4, 'three segments, and the links that no segment holds')
    t.strictSame(
      found.map(({ from }) => from),
      [0, ...found.slice(0, -1).map(({ to }) => to)],
    )
    t.match(found.at(-1), { to: next, end: next, head: `${next}:${hash}`, isTruncated: false })
    t.ok(found.every(({ isWhole, firstFault }) => isWhole && firstFault === null))
    const [whole] = await parts(32)
    t.match(whole, {
      segments: 3,
      links: next,
      first: 0,
      from: 0,
      to: next,
      isWhole: true,
      isTruncated: false,
    })
  })

  await t.test('ends where the chain ended at the first request', async (t) => {
    const first = (await ask({ limit: 1 })).json as Partial<Part> as Part
    await ship(world, [auditRow('later')], 4)
    await sealing.round()
    const rest = (await ask({ limit: 32, continuationToken: first.nextContinuationToken ?? '' }))
      .json as Partial<Part> as Part
    t.match(rest, { from: first.to, to: first.end, end: first.end, isWhole: true, isTruncated: false })
    t.ok(auditHead(memory.reader).next > first.end)
  })

  await t.test('is for auditors of the cluster, and takes no token of another listing', async (t) => {
    t.equal((await ask({}, await memory.adminToken('auditor'))).status, 200)
    t.equal((await ask({}, await memory.adminToken('auditor', 'acme'))).status, 403)
    t.match(await ask({ continuationToken: 'A'.repeat(28) }), {
      status: 400,
      json: { code: 'invalid_continuation_token' },
    })
    t.match(memory.auditRows.at(-1), { operation: 'verifyAuditChain', status: 400 })
  })

  await t.test('names a segment without a readable copy, and checks what follows', async (t) => {
    const newest = await auditSegmentBefore(memory.reader, Number.MAX_SAFE_INTEGER)
    const segment = await auditSegmentBefore(memory.reader, newest?.first ?? 0)
    const id = segment?.chunkId ?? ''
    const birth = memory.reader.get(chunkKeys.chunk(AUDIT_OWNER, id))?.birth ?? ''
    for (const node of ['n1', 'n2', 'n3']) memory.blobs.lose(node, { id, birth })
    memory.services.auditSegments = new AuditSegments(memory.own)
    const [part] = await parts(32)
    t.match(part, {
      to: part?.end,
      isWhole: false,
      firstFault: { kind: 'unreadable', segment: segment?.first, text: /no copy of the segment can be read/ },
    })
  })
})

t.test('verifyAuditChain finds one changed byte', async (t) => {
  const { world, owner } = await AuditedWorld.start(t)
  const { memory } = world
  const ask = async () =>
    (await world.call({ method: 'POST', admin: true, token: owner, path: PATH, body: {} }))
      .json as Partial<Part> as Part
  await ship(world, [auditRow('row')])
  t.match(await ask(), { segments: 0, isWhole: true, firstFault: null })
  const link = memory.reader.get(auditRowKeys.auditLink(0))
  if (link === undefined) throw new Error('the log has a link')
  const at = link.text.indexOf('acme')
  t.ok(at > 0)
  const text = `${link.text.slice(0, at)}b${link.text.slice(at + 1)}`
  await memory.writeRow(auditRowKeys.auditLink(0), { ...link, text })
  t.match(await ask(), {
    isWhole: false,
    firstFault: { kind: 'link', segment: null, text: 'link 0 does not follow from the one before it' },
  })
  await memory.writeRow(auditRowKeys.auditLink(0), link)
  t.match(await ask(), { isWhole: true })
})

t.test('verifyAuditChain compares each segment with its row', async (t) => {
  const { world, owner } = await AuditedWorld.start(t)
  const { memory } = world
  await sealingIn(memory).round()
  const segment = memory.reader.get(auditRowKeys.auditSegment(0))
  if (segment === undefined) throw new Error('the log has a segment')
  await memory.writeRow(auditRowKeys.auditSegment(0), { ...segment, rows: segment.rows + 1 })
  const answer = await world.call({
    method: 'POST',
    admin: true,
    token: owner,
    path: PATH,
    body: { limit: 1 },
  })
  t.match(answer.json, { isWhole: false, firstFault: { kind: 'segmentRow', segment: 0, text: /: rows$/ } })
})
