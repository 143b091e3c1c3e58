/**
 * Every refusal of the cluster operations is provoked and explains itself, and every code of the contract has a case.
 * [decisions 12]
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { type ProblemCode, STATUS_OF } from '../../src/api/problem.ts'
import { problemCodes } from '../../src/api/problem-codes.ts'
import { BLOCKER_CODES } from '../../src/state-machine/base/codes.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import { ApiWorld, METRICS } from './api-world.ts'
import { ALL, type ProvokedId, type RefusalCase, REFUSAL_CASES, RIGHT } from './membership-refusal-cases.ts'
import { unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'

/** The table of the contract. */
const STATUSES: Readonly<Record<number, readonly ProblemCode[]>> = {
  400: ['invalid_request', 'reason_required', 'confirm_mismatch'],
  403: ['access_denied', 'tenant_scope_denied'],
  404: ['not_found'],
  409: [
    'membership_change_in_progress',
    'stale_config_index',
    'member_exists',
    'address_in_use',
    'member_tombstoned',
    'foreign_cluster',
    'data_not_empty',
  ],
  412: ['precondition_failed'],
  503: ['no_quorum', 'no_leader', 'leader_not_ready', 'commit_unknown'],
}

/** Codes that the document allows by its general rules and that cannot happen. */
const NEVER: Readonly<Partial<Record<ProvokedId, readonly ProblemCode[]>>> = {
  getClusterMembership: ['access_denied', 'invalid_request'],
  getOperation: ['access_denied', 'invalid_request'],
  cancelOperation: ['invalid_request'],
  // Nothing is committed.
  transferLeadership: ['commit_unknown'],
}

/** Codes of a running operation, not of the answer that started it. */
const ON_THE_WAY = ['state_checksum_mismatch']

const titleOf = ({ operation, code, blocker }: RefusalCase): string =>
  [operation, code, blocker ?? ''].join(' ')

type RefusalWorld = Awaited<ReturnType<typeof refusalWorld>>

async function refusalWorld(t: Parameters<typeof ApiWorld.start>[0], machines?: RefusalCase['machines']) {
  const world = await ApiWorld.start(t)
  const { memory } = world
  await foundThree(memory, machines)
  await memory.tenant('acme')
  const tokens = {
    owner: await memory.adminToken('owner'),
    operator: await memory.adminToken('operator'),
    tenant: await memory.adminToken('owner', 'acme'),
  }
  return { world, memory, tokens }
}

/** A refusal changes nothing, so cases without preparation share one world. */
class RefusalWorlds {
  readonly #t: Parameters<typeof ApiWorld.start>[0]
  #plain: RefusalWorld | null = null
  constructor(t: Parameters<typeof ApiWorld.start>[0]) {
    this.#t = t
  }

  async refusalWorld({ before, machines }: RefusalCase): Promise<RefusalWorld> {
    if (before !== undefined || machines !== undefined) return refusalWorld(this.#t, machines)
    this.#plain ??= await refusalWorld(this.#t)
    return this.#plain
  }
}

async function provoke(worlds: RefusalWorlds, one: RefusalCase) {
  const { world, memory, tokens } = await worlds.refusalWorld(one)
  await one.before?.(memory, one.operation)
  const right = RIGHT[one.operation]?.(one.name)
  if (right === undefined) throw new Error(`no valid request of ${one.operation} is listed`)
  const body = right.body === undefined ? {} : { body: { ...right.body, ...one.body } }
  // The refusal itself leaves a row in the audit log.
  const shape = (): string =>
    JSON.stringify([memory.reader.get(memberKeys.members()), unfinishedOperations(memory.reader)])
  const before = shape()
  const token = tokens[one.token ?? 'owner']
  const answer = await world.call({
    ...right,
    ...body,
    admin: true,
    token,
    path: `/admin/api/v1${right.path}`,
  })
  return { answer, isUnchanged: shape() === before }
}

t.test('every refusal is provoked and explains itself [membership.refusals]', async (t) => {
  const worlds = new RefusalWorlds(t)
  for (const one of REFUSAL_CASES) {
    const { answer, isUnchanged } = await provoke(worlds, one)
    const title = titleOf(one)
    t.match(answer, { status: STATUS_OF[one.code], code: one.code }, title)
    const message = String(answer.json['message'])
    t.match(message, one.says, title)
    t.notMatch(message, /\.$|undefined|\[object/, `${title}: one sentence`)
    t.ok(isUnchanged, `${title}: nothing has changed`)
    const blockers = (answer.json['blockers'] ?? []) as { code: string; message: string }[]
    const expected = one.blocker === undefined ? [] : [{ code: one.blocker, message }]
    t.same(blockers, expected, `${title}: the gate`)
    if (STATUS_OF[one.code] === 503) t.match(answer.headers['retry-after'], /^[1-9]\d*$/, title)
  }
})

t.test('every code of the contract has a case, for every operation that may give it', async (t) => {
  const table = Object.values(STATUSES).flat()
  for (const [status, codes] of Object.entries(STATUSES))
    for (const code of codes) t.equal(STATUS_OF[code], Number(status), code)
  const { routes } = adminPlane(METRICS)
  const missing = ALL.flatMap((operation) => {
    const route = routes.find((one) => one.operation.id === operation)
    if (route === undefined) return [`no route ${operation}`]
    const given = REFUSAL_CASES.filter((one) => one.operation === operation).map(({ code }) => code)
    return problemCodes(route)
      .filter((code) => table.includes(code) && NEVER[operation]?.includes(code) !== true)
      .filter((code) => !given.includes(code))
      .map((code) => `${operation} ${code}`)
  })
  t.same(missing, [])
  t.same(
    table.filter((code) => !REFUSAL_CASES.some((one) => one.code === code)),
    [],
  )
  const gates = BLOCKER_CODES.filter((code) => !REFUSAL_CASES.some(({ blocker }) => blocker === code))
  t.same(gates, ON_THE_WAY)
  const elsewhere = readFileSync(new URL('../workers/membership.test.ts', import.meta.url), 'utf8')
  for (const code of ON_THE_WAY) t.match(elsewhere, `'${code}: `, `${code} is provoked there`)
})
