/** Random steps, as a property test draws and shrinks them. */
import fc from 'fast-check'
import { type Step, STEP_WEIGHTS } from './versions-commands.ts'

export const step: fc.Arbitrary<Step> = fc.record({
  op: fc.oneof(
    ...Object.entries(STEP_WEIGHTS).map(([op, weight]) => ({
      weight,
      arbitrary: fc.constant(op as keyof typeof STEP_WEIGHTS),
    })),
  ),
  bucket: fc.constantFrom('plain', 'kept', 'locked'),
  key: fc.constantFrom('a', 'b/c'),
  pick: fc.nat({ max: 8 }),
  body: fc.nat({ max: 6 }),
  more: fc.nat({ max: 63 }),
})
