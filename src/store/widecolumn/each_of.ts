/** Runs `work` for each item with bounded concurrency. Rejects with the first failure, once no work is in progress. */
export async function eachOf<T>(
  items: IteratorObject<T>,
  { atOnce }: { readonly atOnce: number },
  work: (item: T) => Promise<void>,
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  const workThrough = async (): Promise<void> => {
    for (let next = items.next(); next.done !== true && failure === undefined; next = items.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workThrough));
  if (failure !== undefined) throw failure.error;
}
