//! The attribute `#[entry_point]`: from a Rust function that returns a `Result` to the C function of the OpenCL API.

use proc_macro::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, Result, ReturnType, Type};

/// Makes a function an entry point of the OpenCL API.
///
/// A function that returns `Result<()>` becomes one that returns its status as a `cl_int`. A function that returns
/// `Result<T>`, where `T` is a handle or a pointer, becomes one that returns it and has one more parameter at its end,
/// `errcode_ret`, for the status. Either way errors become codes and no panic crosses the C boundary
/// (`crate::error::{entry, entry_ret}`).
///
/// An unsafe function gets the safety section that all of them have: its pointers are as the specification says. A
/// function with `errcode_ret` is unsafe for that alone; its own body is as unsafe as it is written.
#[proc_macro_attribute]
pub fn entry_point(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = proc_macro2::TokenStream::from(arguments);
    let made = syn::parse(item).and_then(|function| make_entry_point(&arguments, &function));
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn make_entry_point(arguments: &proc_macro2::TokenStream, function: &ItemFn) -> Result<proc_macro2::TokenStream> {
    let ItemFn { attrs, vis, sig, block } = function;
    if !arguments.is_empty() {
        return Err(Error::new(arguments.span(), "an entry point takes no arguments"));
    }
    if sig.abi.is_some() {
        return Err(Error::new(sig.abi.span(), "the attribute makes the function `extern \"C\"`"));
    }
    if !sig.generics.params.is_empty() {
        return Err(Error::new(sig.generics.span(), "a C function has no generic parameters"));
    }
    let value = type_in_result(&sig.output)?;
    let names = parameter_names(sig.inputs.iter())?;
    let (name, parameters, output, unsafety) = (&sig.ident, &sig.inputs, &sig.output, &sig.unsafety);
    // The caller's promise is that of the function around.
    let call = match unsafety {
        Some(_) => quote!(unsafe { body(#names) }),
        None => quote!(body(#names)),
    };
    // How many parameters there are is the API's choice.
    let body = quote! {
        #[allow(clippy::too_many_arguments)]
        #unsafety fn body(#parameters) #output #block
    };
    let safety = quote! {
        /// # Safety
        /// The pointers are as the specification of OpenCL, or that of the extension, says.
    };
    Ok(match (is_unit(value), unsafety) {
        (true, Some(_)) => quote! {
            #(#attrs)*
            ///
            #safety
            #vis unsafe extern "C" fn #name(#parameters) -> opencl_sys::cl_int {
                #body
                crate::error::entry(|| #call)
            }
        },
        (true, None) => quote! {
            #(#attrs)*
            #vis extern "C" fn #name(#parameters) -> opencl_sys::cl_int {
                #body
                crate::error::entry(|| #call)
            }
        },
        (false, _) => {
            let parameters = parameters.iter();
            quote! {
                #(#attrs)*
                ///
                #safety
                #vis unsafe extern "C" fn #name(
                    #(#parameters,)*
                    errcode_ret: *mut opencl_sys::cl_int,
                ) -> #value {
                    #body
                    unsafe { crate::error::entry_ret(errcode_ret, || #call) }
                }
            }
        }
    })
}

/// The type `T` of a function that returns `Result<T>`.
fn type_in_result(output: &ReturnType) -> Result<&Type> {
    let found = match output {
        ReturnType::Type(_, returned) => match &**returned {
            Type::Path(path) => path.path.segments.last().filter(|last| last.ident == "Result"),
            _ => None,
        },
        ReturnType::Default => None,
    };
    let arguments = found.map(|last| &last.arguments);
    match arguments {
        Some(PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
            Some(GenericArgument::Type(value)) => Ok(value),
            _ => Err(Error::new(arguments.span(), "the result has no type")),
        },
        _ => Err(Error::new(output.span(), "an entry point returns `Result<()>` or the `Result` of a handle")),
    }
}

fn is_unit(value: &Type) -> bool {
    matches!(value, Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// The parameters by name, to pass them on.
fn parameter_names<'a>(parameters: impl Iterator<Item = &'a FnArg>) -> Result<proc_macro2::TokenStream> {
    let names: Vec<&Ident> = parameters.map(parameter_name).collect::<Result<_>>()?;
    Ok(quote!(#(#names),*))
}

fn parameter_name(parameter: &FnArg) -> Result<&Ident> {
    match parameter {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(name) => Ok(&name.ident),
            other => Err(Error::new(other.span(), "a parameter of an entry point is a name")),
        },
        FnArg::Receiver(receiver) => Err(Error::new(receiver.span(), "an entry point is no method")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    /// The C function that comes of a function, without spaces.
    fn made(function: &ItemFn) -> std::result::Result<String, String> {
        let made = make_entry_point(&proc_macro2::TokenStream::new(), function);
        made.map(|tokens| tokens.to_string().replace(' ', "")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_status_is_the_return_value() {
        let text = made(&parse_quote! {
            pub fn retain(event: cl_event) -> Result<()> { handle::retain(event) }
        });
        let text = text.expect("an entry point");
        assert!(text.starts_with("pubextern\"C\"fnretain(event:cl_event)->opencl_sys::cl_int{"), "{text}");
        assert!(text.ends_with("crate::error::entry(||body(event))}"), "{text}");
        assert!(!text.contains("Safety"), "{text}");
    }

    #[test]
    fn unsafe_functions_get_the_safety_section() {
        let text = made(&parse_quote! {
            /// `clGetInfo`.
            pub unsafe fn get_info(size: usize, value: *mut c_void) -> Result<()> { Ok(()) }
        });
        let text = text.expect("an entry point");
        assert!(text.contains("Safety"), "{text}");
        assert!(text.contains("pubunsafeextern\"C\"fnget_info(size:usize,value:*mutc_void)"), "{text}");
        assert!(text.contains("unsafefnbody(size:usize,value:*mutc_void)->Result<()>{Ok(())}"), "{text}");
        assert!(text.ends_with("crate::error::entry(||unsafe{body(size,value)})}"), "{text}");
    }

    #[test]
    fn objects_have_their_status_written() {
        let text = made(&parse_quote! {
            pub fn create(context: cl_context) -> Result<cl_event> { publish(context) }
        });
        let text = text.expect("an entry point");
        assert!(text.contains("create(context:cl_context,errcode_ret:*mutopencl_sys::cl_int,)->cl_event{"), "{text}");
        assert!(text.ends_with("unsafe{crate::error::entry_ret(errcode_ret,||body(context))}}"), "{text}");
    }

    #[test]
    fn what_cannot_be_an_entry_point_is_refused() {
        let refused: [(ItemFn, &str); 4] = [
            (
                parse_quote!(
                    fn f() -> cl_int {
                        0
                    }
                ),
                "returns `Result<()>`",
            ),
            (
                parse_quote!(
                    extern "C" fn f() -> Result<()> {
                        Ok(())
                    }
                ),
                "makes the function",
            ),
            (
                parse_quote!(
                    fn f<T>(a: T) -> Result<()> {
                        Ok(())
                    }
                ),
                "no generic parameters",
            ),
            (
                parse_quote!(
                    fn f((a, b): (A, B)) -> Result<()> {
                        Ok(())
                    }
                ),
                "is a name",
            ),
        ];
        for (function, reason) in refused {
            let error = made(&function).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }
}
