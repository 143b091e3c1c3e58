/** The parts of an upload, as packages/client cuts them; without its clients, so that commands that only name a bound load nothing more. */
export {
  joinedParts,
  leastPartBytes,
  PART_BYTES_DEFAULT,
  PART_BYTES_MAX,
  PART_BYTES_MIN,
  PART_COUNT_MAX,
} from '../../packages/client/src/transfers/parts.ts'
