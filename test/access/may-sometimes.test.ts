/**
 * What is said of an admin token beforehand, against what `authorize` decides for each operation.
 */
import t from 'tap'
import { authorize, maySometimes } from '../../src/access/authorize.ts'
import type { AdminTokenPrincipal } from '../../src/access/base/principal.ts'
import type { Operation } from '../../src/operations/base/operation.ts'
import { ADMIN_OPERATIONS, KEY_OPERATIONS } from '../helpers/operations.ts'
import { PRINCIPALS } from './principals.ts'

function isAllowed(principal: AdminTokenPrincipal, operation: Operation): boolean {
  if ('s3Action' in operation) return false
  try {
    authorize(principal, operation, { tenantId: principal.tenantId ?? 'acme' })
    return true
  } catch {
    return false
  }
}

t.test('maySometimes', async (t) => {
  for (const [name, principal] of Object.entries(PRINCIPALS)) {
    if (principal?.kind !== 'adminToken') continue
    t.test(
      `says of ${name} what it can do somewhere, and nothing else [admin.session.operations]`,
      async (t) => {
        for (const operation of ADMIN_OPERATIONS)
          t.equal(maySometimes(principal, operation), isAllowed(principal, operation), operation.id)
        for (const { requires } of KEY_OPERATIONS)
          if (requires.kind === 'accessKey') t.notOk(maySometimes(principal, { requires }))
      },
    )
  }
})
