/*
 * A program that does nothing but link; see CMakeLists.txt.
 */
int main(void)
{
	return 0;
}
