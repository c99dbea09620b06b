import Type from 'typebox';

/** Schema of an enum setting. */
export function Word<const T extends readonly string[]>(
  words: T,
  options: { default: T[number]; description: string },
) {
  return Type.Unsafe<T[number]>(Type.Enum([...words], options));
}
