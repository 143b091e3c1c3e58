/**
 * createTemporaryToken: authorize -> every member knows such tokens -> session name, scopes within those of the key -> the token. Nothing is stored: what ends
 * the key ends it. [record 48]
 */
import type { TemporaryGrant, TemporaryTerms } from '../../access/access.ts'
import { accessKey } from '../../access/rights.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { dataOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'

/** From here on audit rows with the name of a session are understood by all. */
const SESSIONS_LEVEL = 4

export const createTemporaryToken = dataOperation(
  {
    id: 'createTemporaryToken',
    requires: accessKey(null, 'tenant'),
    s3Action: null,
    refuses: ['access_denied', 'precondition_failed'],
    target: noTarget,
  },
  async ({ access, cluster }, principal, terms: TemporaryTerms): Promise<TemporaryGrant> => {
    await requireLevel(cluster, SESSIONS_LEVEL)
    return access.temporaryToken(principal, terms)
  },
)
