/**
 * Ends an attempt to serve a request without a read barrier.
 *
 * Rule: a Condition, so that what was ingested for it is known not to be committed.
 */
import { Condition } from '../../cluster/index.ts'

export class NeedsBarrier extends Condition {
  constructor() {
    super('slow_down', 'This request needs a read barrier; send it again')
  }
}
