/** Small scopes, searched depth first as far as a bound on worlds allows. */
import t from 'tap'
import { explore } from './exhaustive.ts'
import { SCOPES } from './scopes.ts'
import { ALL_RULES, type Scope } from './world.ts'

const WORLDS = 10_000

t.test('garbage in small scopes', (t) => {
  for (const [name, scope] of Object.entries(SCOPES)) {
    t.test(`breaks no promise when ${name}`, (t) => {
      const { interleavings } = explore(scope, WORLDS)
      t.ok(interleavings > 1000)
      t.end()
    })
  }

  t.test('prints the steps to a broken promise', (t) => {
    const scope = SCOPES['a move is cancelled and requested again']
    t.ok(scope)
    t.throws(() => explore(scope as Scope, WORLDS, { ...ALL_RULES, locksCopies: false }), {
      name: 'BrokenPromise',
    })
    t.end()
  })
  t.end()
})
