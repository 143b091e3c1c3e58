/**
 * Every refusal of the cluster operations is provoked and explains itself, and none of the contract is without a provocation.
 * [decisions 12]
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import type { AdminOperationId } from '../../src/access/base/operation-ids.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { type ProblemCode, STATUS_OF } from '../../src/api/problem.ts'
import { problemCodes } from '../../src/api/problem-codes.ts'
import { BLOCKER_CODES } from '../../src/state-machine/base/codes.ts'
import { foundThree } from '../helpers/told-membership.ts'
import { ApiWorld, METRICS } from './api-world.ts'
import { ALL, type Provocation, PROVOCATIONS, RIGHT } from './membership-provocations.ts'

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

/** What the document allows by its general rules and cannot happen. */
const NEVER: Readonly<Partial<Record<AdminOperationId, readonly ProblemCode[]>>> = {
  getClusterMembership: ['access_denied', 'invalid_request'],
  getOperation: ['access_denied', 'invalid_request'],
  cancelOperation: ['invalid_request'],
  // Nothing is committed.
  transferLeadership: ['commit_unknown'],
}

/** Given by an operation on its way, not by the answer that began it. */
const ON_THE_WAY = ['state_checksum_mismatch']

const titleOf = ({ operation, code, blocker }: Provocation): string =>
  [operation, code, blocker ?? ''].join(' ')

type Scene = Awaited<ReturnType<typeof scene>>

async function scene(t: Parameters<typeof ApiWorld.start>[0], machines?: Provocation['machines']) {
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

/** What is refused changes nothing, so where nothing was done before one world is enough. */
class Stage {
  readonly #t: Parameters<typeof ApiWorld.start>[0]
  #plain: Scene | null = null
  constructor(t: Parameters<typeof ApiWorld.start>[0]) {
    this.#t = t
  }

  async scene({ before, machines }: Provocation): Promise<Scene> {
    if (before !== undefined || machines !== undefined) return scene(this.#t, machines)
    this.#plain ??= await scene(this.#t)
    return this.#plain
  }
}

async function provoke(stage: Stage, one: Provocation) {
  const { world, memory, tokens } = await stage.scene(one)
  await one.before?.(memory, one.operation)
  const right = RIGHT[one.operation]?.(one.name)
  if (right === undefined) throw new Error(`nobody says how to ask for ${one.operation}`)
  const body = right.body === undefined ? {} : { body: { ...right.body, ...one.body } }
  const { view } = memory.reader
  // The refusal itself leaves a row in the audit log.
  const shape = (): string =>
    JSON.stringify([view.get(memberKeys.members()), memory.reader.unfinishedOperations()])
  const before = shape()
  const token = tokens[one.token ?? 'owner']
  const heard = await world.call({
    ...right,
    ...body,
    admin: true,
    token,
    path: `/admin/api/v1${right.path}`,
  })
  return { heard, isUnchanged: shape() === before }
}

t.test('every refusal is provoked and explains itself [membership.refusals]', async (t) => {
  const stage = new Stage(t)
  for (const one of PROVOCATIONS) {
    const { heard, isUnchanged } = await provoke(stage, one)
    const title = titleOf(one)
    t.match(heard, { status: STATUS_OF[one.code], code: one.code }, title)
    const message = String(heard.json['message'])
    t.match(message, one.says, title)
    t.notMatch(message, /\.$|undefined|\[object/, `${title}: one sentence`)
    t.ok(isUnchanged, `${title}: nothing has changed`)
    const blockers = (heard.json['blockers'] ?? []) as { code: string; message: string }[]
    const expected = one.blocker === undefined ? [] : [{ code: one.blocker, message }]
    t.same(blockers, expected, `${title}: the gate`)
    if (STATUS_OF[one.code] === 503) t.match(heard.headers['retry-after'], /^[1-9]\d*$/, title)
  }
})

t.test('no code of the contract is without a provocation, for any operation that may give it', async (t) => {
  const table = Object.values(STATUSES).flat()
  for (const [status, codes] of Object.entries(STATUSES))
    for (const code of codes) t.equal(STATUS_OF[code], Number(status), code)
  const { routes } = adminPlane(METRICS)
  const missing = ALL.flatMap((operation) => {
    const route = routes.find(({ operationId }) => operationId === operation)
    if (route === undefined) return [`no route ${operation}`]
    const given = PROVOCATIONS.filter((one) => one.operation === operation).map(({ code }) => code)
    return problemCodes(route)
      .filter((code) => table.includes(code) && NEVER[operation]?.includes(code) !== true)
      .filter((code) => !given.includes(code))
      .map((code) => `${operation} ${code}`)
  })
  t.same(missing, [])
  t.same(
    table.filter((code) => !PROVOCATIONS.some((one) => one.code === code)),
    [],
  )
  const gates = BLOCKER_CODES.filter((code) => !PROVOCATIONS.some(({ blocker }) => blocker === code))
  t.same(gates, ON_THE_WAY)
  const elsewhere = readFileSync(new URL('../workers/membership.test.ts', import.meta.url), 'utf8')
  for (const code of ON_THE_WAY) t.match(elsewhere, `'${code}: `, `${code} is provoked there`)
})
